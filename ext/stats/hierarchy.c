/*
** Where the posterior of (theta, d) is, and points to sum over it.
**
** At a fixed d the posterior of s = logit theta is smooth, has one mode (it is
** log-concave in theta) and falls off at least exponentially: the plain trapezoid
** rule converges exponentially.  Each such line has its own mode, step and range,
** because its scale depends on d: under 'icc' one cluster of n has an sd of s of
** about 1 at small d, and of 1/sqrt(n) where d is beyond n.
**
** Across lines the rule is Gauss-Legendre, on panels of
**
**     r = ln d    around the mode, outward until the density is negligible;
**     d           from 0, where r would have to go to -37 for 16 digits: likelihood and
**                 prior are analytic at d = 0, with poles at -1, -2, ..;
**     1/(1+d)     from 0, where r would have to go to +45: the likelihood is a rational
**                 function of 1/d with poles at -1/i for i < n, and so is the prior.
**
** So d stays below about 50 times the number of questions, and sums of logarithms
** lose little at the largest.
*/
#include "hierarchy.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "lanes.h"

/* What a panel is an interval of: ln d, d, or 1/(1+d). */
typedef enum panel_axis { PANEL_OF_R, PANEL_OF_D, PANEL_OF_ICC } panel_axis;

/* EV_NODES lines, with Gauss-Legendre weights. */
typedef struct line_panel {
  panel_axis axis;
  double near, far; /* its ends, as seen from the mode */
} line_panel;

/* The posterior, and its location. */
struct ev_joint {
  ev_line_model model;
  double d;                 /* of the line looked at */
  double ln_prior, ln_of_d; /* the factors of d alone: its prior, and of the likelihood */
  double peak, spread;      /* estimates of its mode and sd, for the next line */
  double panel_width;       /* of r */
  double ln_total;          /* ln of the integral over the plane so far */
  size_t room, line_room;
  int polled; /* lines gone to since the start */
  int panels; /* how many there are */
  int node;   /* of the last, whose line is added */
};
typedef struct ev_joint joint;

/*
** Modes and scales
*/
/* Climbs from a point in growing steps, then narrows them until the logarithm falls by 0.02 to 1
** over one, where a parabola fits: a step of a fifth of the sd to 1.4 sd.  The sd is at most 2. */
ev_status ev_climb(ev_ln_function *f, void *context, double from, double step, ev_summit *top) {
  double x = from, mid, ln[2];
  f(&x, 1, &mid, context);
  for (int i = 0; i < 400; i++) {
    f((double[]){x - step, x + step}, 2, ln, context);
    double low = ln[0], high = ln[1], most = fmax(low, high), drop = mid - (low + high) / 2;
    if (isnan(drop)) return EV_NOT_CONVERGED;
    if (most > mid) {
      x += high > low ? step : -step;
      mid = most;
      step *= 1.5;
    } else if (drop < 0.02 && step < 2) {
      step *= 2;
    } else if (drop > 1) {
      x += fmax(-0.5, fmin(0.5, (high - low) / drop / 4)) * step;
      f(&x, 1, &mid, context);
      step /= 3;
    } else {
      *top = (ev_summit){x, fmin(2, step / sqrt(2 * fmax(drop, 1e-9))), mid};
      return EV_OK;
    }
  }
  return EV_NOT_CONVERGED;
}

/* Goes to the line at d, from one that need only be near. */
static ev_status go_to_line(joint *p, double d, ev_summit *top) {
  p->d = d;
  p->ln_prior = p->model.prior == EV_PRIOR_ICC ? -2 * log1p(d) : -d;
  p->ln_of_d = p->model.go_to_line(d, p->model.context);
  ev_status status = ev_climb(p->model.ln_at, p->model.context, p->peak, p->spread, top);
  if (status != EV_OK) return status;
  p->peak = top->at;
  p->spread = top->sd;
  return EV_OK;
}

/* An approximation to ln of the integral along the line of r = ln d, as a density of r. */
static double ln_of_line(joint *p, double r) {
  ev_summit top;
  if (go_to_line(p, exp(r), &top) != EV_OK) return NAN;
  return r + p->ln_prior + p->ln_of_d + top.ln + log(top.sd);
}

static void ln_of_lines(const double *r, int count, double *ln, void *context) {
  for (int i = 0; i < count; i++) ln[i] = ln_of_line(context, r[i]);
}

/* How far rounding may move the logarithm of the likelihood at r. */
static double rounding_at(joint *p, double r) {
  return p->model.rounding ? p->model.rounding(exp(r), p->model.context) : 0;
}

/* Rounding of the log likelihood beyond which lines are not compared, and that at the mode which
** is too large for a result. */
static const double SCAN_ROUNDING = 0.01, MOST_ROUNDING = 1e-3;

static bool poll_for_lines(joint *p) {
  return p->polled++ % p->model.poll_lines == 0 && ev_interrupted(p->model.host);
}

/* Scans in steps of 2, which miss no mode, and climbs from the best point.  Lines beyond 100 times
** the number of questions are alike; where rounding is not small, the scan ends. */
static ev_status find_mode_of_r(joint *p, ev_summit *top) {
  double best = -HUGE_VAL, at = 0, most = log(100 * p->model.answers + 100);
  double peak = p->peak, spread = p->spread, r = -40;
  for (; r < most && rounding_at(p, r) < SCAN_ROUNDING; r += 2) {
    double ln = ln_of_line(p, r);
    if (isnan(ln)) return EV_NOT_CONVERGED;
    if (poll_for_lines(p)) return EV_INTERRUPTED;
    if (ln <= best) continue;
    best = ln;
    at = r;
    peak = p->peak;
    spread = p->spread;
  }
  p->peak = peak;
  p->spread = spread;
  ev_status status = ev_climb(ln_of_lines, p, at, 1, top);
  bool too_large = status == EV_OK ? rounding_at(p, top->at) > MOST_ROUNDING : r < most;
  return too_large ? EV_TOO_LARGE : status;
}

/*
** Lines
*/

/* Room for one item more. */
static bool reserve_item(void **items, size_t size, size_t count, size_t *room) {
  if (count < *room) return true;
  size_t wanted = *room ? 2 * *room : 64;
  void *moved = realloc(*items, wanted * size);
  if (!moved) return false;
  *items = moved;
  *room = wanted;
  return true;
}

static bool push_point(ev_hierarchy *h, ev_hierarchy_point point) {
  void *items = h->points;
  bool ok = reserve_item(&items, sizeof point, h->count, &h->joint->room);
  h->points = items;
  if (ok) h->points[h->count++] = point;
  return ok;
}

static bool push_line(ev_hierarchy *h, ev_hierarchy_line line) {
  void *items = h->lines;
  bool ok = reserve_item(&items, sizeof line, h->line_count, &h->joint->line_room);
  h->lines = items;
  if (ok) h->lines[h->line_count++] = line;
  return ok;
}

/* A trapezoid sum converges as exp(-2 pi^2 (sd/step)^2) for a normal, and as
** exp(-pi^2 / step) for the steepest end, exp(s - exp(s)): 0.5 sd and 0.33 leave
** 1e-13.  What is summed, the density at a point of Beta(d theta, d (1-theta)), is a function
** of s with an sd of (d theta (1-theta))^-1/2. */
static double line_step(const joint *p, double ln_mass) {
  ev_point theta = ev_at_logit(p->peak);
  double step = p->model.step_sd * fmin(p->model.step_most, p->spread),
         bend = 1 + p->d * theta.x * theta.y;
  if (!p->model.betas) return step;
  if (p->model.betas_drop == 0) return fmin(step, p->model.step_sd / sqrt(bend));
  /* The error of a line is this part of its own mass, for the sd of both factors together. */
  double drop = fmax(4, p->model.betas_drop + fmin(0, ln_mass));
  return fmin(step, M_PI * sqrt(2 / drop / (bend + 1 / gsl_pow_2(p->spread))));
}

/* A line that is not negligible has at least this many points on each side of its peak, for
** interpolation; and at most the other number, which only a failing search reaches. */
enum { LINE_LEAST = 6, LINE_POINTS = 100000 };

/* Lays points in one direction along the line from its peak, until they are negligible. */
static ev_status add_half_line(ev_hierarchy *h, int from, double step, double ln_line) {
  joint *p = h->joint;
  for (int i = from; i < LINE_POINTS; i += EV_LANES) {
    double s[EV_LANES], ln[EV_LANES];
    for (int j = 0; j < EV_LANES; j++) s[j] = p->peak + (i + j) * step;
    p->model.ln_at(s, EV_LANES, ln, p->model.context);
    for (int j = 0; j < EV_LANES; j++) {
      double weight = ln_line + ln[j];
      if (isnan(weight)) return EV_NOT_CONVERGED;
      if (weight < -(p->model.cut_off + p->model.margin) && i + j >= from + LINE_LEAST)
        return EV_OK;
      ev_point theta = ev_at_logit(s[j]);
      if (!push_point(h, (ev_hierarchy_point){theta.x, theta.y, p->d, exp(weight)}))
        return EV_NO_MEMORY;
    }
  }
  return EV_NOT_CONVERGED;
}

/* Reverses the points from `first` on. */
static void reverse_points(ev_hierarchy *h, size_t first) {
  for (size_t low = first, high = h->count; low + 1 < high; low++) {
    ev_hierarchy_point swapped = h->points[low];
    h->points[low] = h->points[--high];
    h->points[high] = swapped;
  }
}

/* The line at d, with its weight among lines. */
static ev_status add_line_at(ev_hierarchy *h, double d, double ln_weight) {
  joint *p = h->joint;
  ev_summit top;
  ev_status status = go_to_line(p, d, &top);
  if (status != EV_OK) return status;
  double ln_mass = ln_weight + p->ln_prior + p->ln_of_d - p->ln_total + top.ln + log(2.5 * top.sd);
  double step = line_step(p, ln_mass), ln_measure = ln_weight + p->ln_prior + log(step);
  double ln_line = ln_measure + p->ln_of_d - p->ln_total;
  size_t first = h->count;
  if (ln_line + top.ln < -p->model.cut_off) return EV_OK;
  status = add_half_line(h, 1, -step, ln_line);
  size_t below = h->count - first;
  reverse_points(h, first);
  if (status == EV_OK) status = add_half_line(h, 0, step, ln_line);
  if (status != EV_OK) return status;
  ev_hierarchy_line line = {.d = d,
                            .first_s = top.at - (double)below * step,
                            .step_s = step,
                            .ln_measure = ln_measure,
                            .first = first,
                            .count = h->count - first,
                            .panel = p->panels,
                            .node = p->node};
  if (!push_line(h, line)) return EV_NO_MEMORY;
  return poll_for_lines(p) ? EV_INTERRUPTED : EV_OK;
}

static ev_status add_lines_of_panel(ev_hierarchy *h, const line_panel *panel) {
  ev_status status = EV_OK;
  double mid = (panel->near + panel->far) / 2, half = (panel->far - panel->near) / 2;
  for (int i = 0; i < EV_NODES && status == EV_OK; i++) {
    double x = mid + half * ev_node(i), d = x, ln_change = 0;
    if (panel->axis == PANEL_OF_R) {
      d = exp(x);
      ln_change = x;
    } else if (panel->axis == PANEL_OF_ICC) {
      d = (1 - x) / x;
      ln_change = -2 * log(x);
    }
    h->joint->node = i;
    status = add_line_at(h, d, ln_change + log(fabs(half) * ev_weight(i)));
  }
  return status;
}

/* Only a failing search needs more panels than this: 150 was the largest number observed. */
enum { HIERARCHY_PANELS = 2000 };

static ev_status add_line_panel(ev_hierarchy *h, line_panel panel) {
  if (h->joint->panels++ >= HIERARCHY_PANELS) return EV_NOT_CONVERGED;
  return add_lines_of_panel(h, &panel);
}

/* Sixteen nodes on 5.7 sd of a normal have an error of 1e-14, on a length of 3.5 in r no more.  The
** sd is that of r given theta: less than that of r where the lines' modes move with r. */
static ev_status find_panel_width(joint *p, ev_summit top) {
  double peak[2], spread = p->spread;
  for (int i = 0; i < 2; i++) {
    if (isnan(ln_of_line(p, top.at + (2 * i - 1) * top.sd))) return EV_NOT_CONVERGED;
    peak[i] = p->peak;
  }
  double shift = (peak[1] - peak[0]) / 2 / spread;
  p->panel_width = p->model.panel_sd * fmin(3.5 / 5.7, top.sd / sqrt(1 + shift * shift));
  return EV_OK;
}

/* A place on the axis of r, and what the lines' masses are there. */
typedef struct panel_edge {
  double r, ln;
} panel_edge;

/* The next edge, `width` away, or nearer if the masses fall by more than `most` up to there:
** a mode may have a steeper side than its curvature suggests. */
static panel_edge next_edge(joint *p, panel_edge from, double width, double most) {
  panel_edge next = {from.r + width, ln_of_line(p, from.r + width)};
  for (int i = 0; i < 20 && from.ln - next.ln > most; i++) {
    width /= 2;
    next = (panel_edge){from.r + width, ln_of_line(p, from.r + width)};
  }
  return next;
}

/* On the panel about the mode, and on the others; a normal falls by 4 and by 32. */
static const double FALL_NEAR_MODE = 6, FALL_ELSEWHERE = 36;

/* From an end of the first panel down (way -1) or up (1).  If a cluster is all wrong, x^(d theta)
** is evaluated for x as small as 1e-308: d up to `small` has only to resolve e^(-14 d/0.02).
** From `large` on 1/d runs over four times its distance to the poles at -1/i, i < n, at the most,
** and sixteen nodes leave 5e-14. */
static ev_status add_panels(ev_hierarchy *h, ev_summit top, panel_edge at, int way) {
  joint *p = h->joint;
  double small = fmin(log(0.02), top.at - 3);
  double large = fmax(log(fmax(4, p->model.answers / 4)), top.at);
  while (at.ln > top.ln - p->model.cut_off) {
    if (way < 0 && at.r <= small) return add_line_panel(h, (line_panel){PANEL_OF_D, exp(at.r), 0});
    if (way > 0 && p->model.prior == EV_PRIOR_ICC && at.r >= large)
      return add_line_panel(h, (line_panel){PANEL_OF_ICC, 1 / (1 + exp(at.r)), 0});
    panel_edge next = next_edge(p, at, way * p->panel_width, FALL_ELSEWHERE);
    ev_status status = add_line_panel(h, (line_panel){PANEL_OF_R, at.r, next.r});
    if (status != EV_OK) return status;
    at = next;
  }
  return isnan(at.ln) ? EV_NOT_CONVERGED : EV_OK;
}

static ev_status add_line_panels(ev_hierarchy *h) {
  joint *p = h->joint;
  ev_summit top;
  ev_status status = find_mode_of_r(p, &top);
  double peak = p->peak, spread = p->spread;
  if (status == EV_OK) status = find_panel_width(p, top);
  if (status != EV_OK) return status;
  p->ln_total = top.ln + log(top.sd);
  double half = p->panel_width / 2;
  panel_edge mode = {top.at, top.ln};
  panel_edge above = next_edge(p, mode, half, FALL_NEAR_MODE);
  panel_edge below = next_edge(p, mode, -half, FALL_NEAR_MODE);
  status = add_line_panel(h, (line_panel){PANEL_OF_R, below.r, above.r});
  if (status == EV_OK) status = add_panels(h, top, above, 1);
  p->peak = peak;
  p->spread = spread;
  if (status == EV_OK) status = add_panels(h, top, below, -1);
  return status;
}

static ev_status normalize_weights(ev_hierarchy *h) {
  double sum = 0;
  for (size_t i = 0; i < h->count; i++) sum += h->points[i].weight;
  if (!(sum > 0 && isfinite(sum))) return EV_NOT_CONVERGED;
  for (size_t i = 0; i < h->count; i++) h->points[i].weight /= sum;
  return EV_OK;
}

ev_status ev_hierarchy_of_model(const ev_line_model *model, ev_hierarchy *h) {
  *h = (ev_hierarchy){.host = model->host};
  joint *p = h->joint = calloc(1, sizeof *p);
  if (!p) return EV_NO_MEMORY;
  p->model = *model;
  p->peak = model->guess;
  p->spread = 1;
  ev_status status = add_line_panels(h);
  return status == EV_OK ? normalize_weights(h) : status;
}

void ev_hierarchy_free(ev_hierarchy *h) {
  free(h->points);
  free(h->lines);
  free(h->joint);
  free(h->likelihood);
  *h = (ev_hierarchy){0};
}
