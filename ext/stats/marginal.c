/*
** Chebyshev series of a log density, and Gauss-Legendre nodes to integrate it by.
** The extrema of a series of twice the degree are those of the first and as many
** between them, so that none is wasted when a degree is doubled.
**
** The 16 nodes and weights are those of Abramowitz and Stegun table 25.4; GSL has
** them behind an allocation that could fail.
*/
#include "marginal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "chebyshev.h"
#include "lanes.h"
#include "root.h"

/* The degree that a panel's series begins with, doubled up to EV_DEGREE: 12, 24, 48.  This needs
** about 100 evaluations where panels of degree 15 that were only halved needed 300. */
enum { MARGINAL_FIRST_DEGREE = EV_DEGREE / 4 };

/* Replaces the logarithm of 0, which a series could not approximate. */
static const double MARGINAL_LN_ZERO = -1e300;

/* Panels reserved for each end, in case the peak turns out higher than it seemed when the ends were
** chosen.  Without them, a rough density, which uses all panels, loses its ends. */
enum { MARGINAL_SPARE_PANELS = 4 };

/* How often a panel may be halved: 2^-40 of the first is 1e-12 of it. */
enum { MARGINAL_DEPTH = 40 };

/* The density of a panel may vary by about e^90.  It is integrated in parts: as many as keep a
** normal density within e^10 in each, and more if the series is of a high degree, within e^4, so
** that 16 nodes integrate each part to the last digit. */
static const double MARGINAL_PANEL_RANGE = 90, MARGINAL_PART_RANGE = 4;

/* The acceptable error of a panel, in the logarithm of the density, when there is no room to halve
** it further.  It moves a bound by 4e-9 standard deviations. */
static const double MARGINAL_GIVE_UP_TOLERANCE = 1e-8;

/* The same if halving no longer helps, because the error is the density's own rounding. */
static const double MARGINAL_ROUNDING = 1e-3;

static const double legendre_nodes[EV_NODES / 2] = {
    0.095012509837637440185, 0.28160355077925891323, 0.45801677765722738634, 0.61787624440264374845,
    0.7554044083550030339,   0.86563120238783174388, 0.94457502307323257608, 0.9894009349916499326,
};
static const double legendre_weights[EV_NODES / 2] = {
    0.18945061045506849629,  0.18260341504492358887,  0.16915651939500253819,
    0.14959598881657673208,  0.12462897125553387205,  0.09515851168249278481,
    0.062253523938647892863, 0.027152459411754094852,
};

double ev_node(int i) {
  return i < EV_NODES / 2 ? -legendre_nodes[EV_NODES / 2 - 1 - i]
                          : legendre_nodes[i - EV_NODES / 2];
}

double ev_weight(int i) {
  return i < EV_NODES / 2 ? legendre_weights[EV_NODES / 2 - 1 - i]
                          : legendre_weights[i - EV_NODES / 2];
}

void ev_legendre(double x, double *p) {
  p[0] = 1;
  p[1] = x;
  for (int k = 1; k < EV_NODES; k++) p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
}

/* The logarithm at a point. */
typedef struct marginal_point {
  double z, ln;
} marginal_point;

/* Where a point x of a panel, from -1 to 1, is; in a graded one, the distance from the corner is
** the square of that in x, so that the Chebyshev coefficients of a power or a logarithm of the
** distance fall off twice as fast. */
static double shape_place(const ev_panel_shape *p, double x) {
  double length = p->to - p->from, y = (1 - p->graded * x) / 2;
  if (!p->graded) return (p->from + p->to) / 2 + length / 2 * x;
  return p->graded < 0 ? p->from + length * y * y : p->to - length * y * y;
}

/* The derivative of the place by x. */
static double shape_slope(const ev_panel_shape *p, double x) {
  return (p->to - p->from) / 2 * (p->graded ? 1 - p->graded * x : 1);
}

/* The point x that is at a place. */
static double shape_point(const ev_panel_shape *p, double z) {
  double length = p->to - p->from;
  if (!p->graded) return 2 * (z - p->from) / length - 1;
  return p->graded < 0 ? 2 * sqrt((z - p->from) / length) - 1 : 1 - 2 * sqrt((p->to - z) / length);
}

/* The logarithm at the extrema cos(pi i / degree) of a panel while it is refined:
** ln[0] is at `to`, ln[degree] at `from`.  Degree 0 has the two ends, ln[0] and ln[1]. */
typedef struct marginal_samples {
  ev_panel_shape shape;
  int degree;
  double ln[EV_DEGREE + 1];
} marginal_samples;

static marginal_samples samples_between(marginal_point low, marginal_point high, int graded) {
  return (marginal_samples){{low.z, high.z, graded}, 0, {high.ln, low.ln}};
}

static double marginal_evaluate(ev_marginal *m, const ev_search *search, double z) {
  double ln = search->ln_density(z, search->context);
  m->evaluated++;
  if (isnan(ln)) m->gave_up = true;
  ln = fmax(MARGINAL_LN_ZERO, ln);
  m->ln_peak = fmax(m->ln_peak, ln);
  return ln;
}

static void samples_double(ev_marginal *m, const ev_search *search, marginal_samples *s) {
  int degree = s->degree ? 2 * s->degree : MARGINAL_FIRST_DEGREE;
  int stride = s->degree ? 2 : degree; /* from one sample to the next at the new degree */
  for (int i = degree / stride; i > 0; i--) s->ln[i * stride] = s->ln[i];
  for (int i = 1; i < degree; i++)
    if (i % stride)
      s->ln[i] =
          marginal_evaluate(m, search, shape_place(&s->shape, ev_chebyshev_extremum(i, degree)));
  s->degree = degree;
}

/* The series through the samples. */
static ev_panel panel_through(const marginal_samples *s) {
  int n = s->degree;
  ev_panel panel = {.shape = s->shape, .ln_most = s->ln[0], .ln_least = s->ln[0], .degree = n};
  for (int i = 1; i <= n; i++) {
    panel.ln_most = fmax(panel.ln_most, s->ln[i]);
    panel.ln_least = fmin(panel.ln_least, s->ln[i]);
  }
  ev_chebyshev_from_extrema(n, s->ln, panel.series);
  panel.residual = fabs(panel.series[n]) + fabs(panel.series[n - 1]);
  return panel;
}

static double panel_range(const ev_panel *panel) {
  return panel->ln_most - panel->ln_least;
}

/* Whether the panel is too low to matter, or its series is within the tolerance, absolutely or
** relative to the tail, and not too steep to be integrated. */
static bool panel_converged(const ev_marginal *m, const ev_search *search, const ev_panel *panel) {
  double height = panel->ln_most - m->ln_peak;
  /* e^-5 below the end that was asked for: the peak may still rise. */
  if (height < -search->ln_drop - 5) return true;
  return panel_range(panel) < MARGINAL_PANEL_RANGE &&
         (panel->residual <= search->tolerance ||
          panel->residual * exp(height) <= search->tolerance * search->tail);
}

/* Whether a panel that could not be halved is acceptable: if its series is good enough, or if all
** its mass is small relative to the tail.  Up to four times the range, the parts in which it is
** integrated still leave out no more than 1e-12. */
static bool panel_acceptable(const ev_marginal *m, const ev_search *search, const ev_panel *panel) {
  double tolerance = fmax(search->acceptable, fmax(search->tolerance, MARGINAL_GIVE_UP_TOLERANCE));
  double error = panel_range(panel) < 4 * MARGINAL_PANEL_RANGE ? fmin(1, panel->residual) : 1;
  double most = (panel->shape.to - panel->shape.from) * exp(panel->ln_most - m->ln_peak);
  return error <= tolerance || error * most <= tolerance * search->tail * m->mass;
}

/* Samples a panel between two points where the logarithm is known already, and doubles the degree
** of its series while that promises to be enough: doubling about squares a residual. */
static ev_panel panel_refined(ev_marginal *m, const ev_search *search, marginal_samples *s) {
  double promising = 0.1;
  for (;;) {
    samples_double(m, search, s);
    ev_panel panel = panel_through(s);
    if (panel_converged(m, search, &panel) || panel.residual > promising || s->degree == EV_DEGREE)
      return panel;
    promising = sqrt(search->tolerance);
  }
}

/* Adds a refined panel, or its halves, or theirs, to a depth of MARGINAL_DEPTH, while there is room
** for both and for the `pending` ones that come after.  Halving improves at least one half, by a
** factor of 4 or more, as long as the residual is the density's.  If it improves neither and the
** residual is small, the residual is the density's own rounding. */
static void panel_add(ev_marginal *m, const ev_search *search, const marginal_samples *s,
                      const ev_panel *panel, int depth, int pending) {
  bool room = depth < MARGINAL_DEPTH && m->count + pending + 2 <= EV_PANELS &&
              m->evaluated < search->budget && !m->gave_up;
  bool gave_up = !panel_converged(m, search, panel);
  if (gave_up && room) {
    bool small = panel_range(panel) < MARGINAL_PANEL_RANGE && panel->residual < MARGINAL_ROUNDING;
    const ev_panel_shape *p = &s->shape;
    marginal_point from = {p->from, s->ln[s->degree]}, to = {p->to, s->ln[0]};
    marginal_point mid = {shape_place(p, 0), s->ln[s->degree / 2]};
    marginal_samples low = samples_between(from, mid, p->graded < 0 ? -1 : 0);
    marginal_samples high = samples_between(mid, to, p->graded > 0 ? 1 : 0);
    ev_panel low_panel = panel_refined(m, search, &low);
    ev_panel high_panel = panel_refined(m, search, &high);
    if (!small || fmin(low_panel.residual, high_panel.residual) <= 0.25 * panel->residual) {
      panel_add(m, search, &low, &low_panel, depth + 1, pending + 1);
      panel_add(m, search, &high, &high_panel, depth + 1, pending);
      return;
    }
    gave_up = false;
  }
  m->panels[m->count] = *panel;
  m->panels[m->count++].gave_up = gave_up;
}

/* The point at z, or at the end of the domain if that comes first. */
static marginal_point point_at(ev_marginal *m, const ev_search *search, double z) {
  if (search->bounded) z = fmax(search->least, fmin(search->most, z));
  return (marginal_point){z, marginal_evaluate(m, search, z)};
}

/* Whether the density is negligible beyond a point. */
static bool is_an_end(const ev_marginal *m, const ev_search *search, marginal_point p) {
  return p.ln < m->ln_peak - search->ln_drop ||
         (search->bounded && (p.z == search->least || p.z == search->most));
}

/* The point, going from the middle, where the density first is negligible, or nearly so: where its
** logarithm has fallen by one to two times ln_drop.  If the density were normal, the first offset
** would give all the others; a step aims at 1.2 times, and changes the offset tenfold at most.
** About 3 steps suffice; all are taken only if the middle itself is so far out that no offset is
** short enough.  cover_all() goes on from a point that is no end after all. */
enum { MARGINAL_END_STEPS = 60 };

static marginal_point find_end(ev_marginal *m, const ev_search *search, marginal_point middle,
                               double offset) {
  marginal_point end = point_at(m, search, middle.z + offset);
  for (int i = 0; i < MARGINAL_END_STEPS; i++) {
    double drop = (m->ln_peak - end.ln) / search->ln_drop;
    if ((is_an_end(m, search, end) && drop < 2) || m->evaluated > search->budget) break;
    offset *= fmax(0.1, fmin(2, sqrt(1.2 / fmax(drop, 0.01))));
    end = point_at(m, search, middle.z + offset);
  }
  return end;
}

static int panels_by_position(const void *a, const void *b) {
  const ev_panel *p = a, *q = b;
  return (p->shape.from > q->shape.from) - (p->shape.from < q->shape.from);
}

/* The number of parts in which a panel is integrated. */
static int panel_parts(const ev_panel *panel) {
  return panel->degree / 6 +
         (int)(fmin(MARGINAL_PANEL_RANGE, panel_range(panel)) / MARGINAL_PART_RANGE);
}

enum { NODES_IN_LANES = EV_NODES / EV_LANES };

/* Replaces points x, side by side, by the density there.  The series of a panel that is too low to
** matter may not have converged, and must not rise above its samples. */
EV_INLINE void panel_densities(const ev_marginal *m, const ev_panel *panel, int count,
                               ev_lanes *x) {
  double most = panel->residual < MARGINAL_ROUNDING ? HUGE_VAL : panel->ln_most;
  const double *series = panel->series;
  ev_lanes b0[NODES_IN_LANES] = {{0}}, b1[NODES_IN_LANES] = {{0}};
  for (int k = panel->degree; k > 0; k--)
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) {
      ev_lanes b2 = b1[i];
      b1[i] = b0[i];
      b0[i] = series[k] + 2 * x[i] * b1[i] - b2;
    }
  for (int i = 0; i < count; i++) {
    x[i] = -(series[0] + x[i] * b0[i] - b1[i]);
    ev_at_least(&x[i], -most);
    x[i] = -x[i] - m->ln_peak;
  }
  ev_exp(x, count);
}

/* The mass of a panel between two of its points, from -1 to 1. */
EV_WIDE static double panel_mass(const ev_marginal *m, const ev_panel *panel, double from,
                                 double to) {
  ev_lanes at[NODES_IN_LANES], weight[NODES_IN_LANES], sum = {0};
  double mid = (from + to) / 2, half = (to - from) / 2;
  for (int i = 0; i < EV_NODES; i++) {
    double x = mid + half * ev_node(i);
    at[i / EV_LANES][i % EV_LANES] = x;
    weight[i / EV_LANES][i % EV_LANES] = ev_weight(i) * shape_slope(&panel->shape, x);
  }
  panel_densities(m, panel, NODES_IN_LANES, at);
  for (int i = 0; i < NODES_IN_LANES; i++) sum += weight[i] * at[i];
  return ev_sum(&sum) * half;
}

/* The density at one point of a panel. */
EV_WIDE static double panel_density(const ev_marginal *m, const ev_panel *panel, double at) {
  ev_lanes x = {at, at, at, at};
  panel_densities(m, panel, 1, &x);
  return x[0];
}

static void cover_part(ev_marginal *m, const ev_search *search, marginal_point low,
                       marginal_point high, int graded, int pending) {
  marginal_samples s = samples_between(low, high, graded);
  ev_panel panel = panel_refined(m, search, &s);
  panel_add(m, search, &s, &panel, 0, pending);
}

/* Covers the range between two points by panels, split at the corner if it lies between; `pending`
** more are to come after. */
static void cover(ev_marginal *m, const ev_search *search, marginal_point low, marginal_point high,
                  int pending) {
  if (search->has_corner && low.z < search->corner && search->corner < high.z) {
    marginal_point corner = {search->corner, marginal_evaluate(m, search, search->corner)};
    cover_part(m, search, low, corner, search->graded ? 1 : 0, pending + 1);
    cover_part(m, search, corner, high, search->graded ? -1 : 0, pending);
  } else
    cover_part(m, search, low, high, 0, pending);
}

/* Whether to continue beyond a point: it is not an end, and there is room for two more panels. */
static bool may_extend(const ev_marginal *m, const ev_search *search, marginal_point p,
                       int pending) {
  return !is_an_end(m, search, p) && m->count + pending + 2 <= EV_PANELS &&
         m->evaluated < search->budget;
}

/* Covers the range between the ends, and beyond them while the peak, which was found later, shows
** that the density is not negligible there. */
static void cover_all(ev_marginal *m, const ev_search *search) {
  marginal_point middle = {search->start, marginal_evaluate(m, search, search->start)};
  marginal_point low = find_end(m, search, middle, -search->width);
  marginal_point high = find_end(m, search, middle, search->width);
  cover(m, search, low, high, 2 * MARGINAL_SPARE_PANELS);
  while (may_extend(m, search, low, MARGINAL_SPARE_PANELS)) {
    marginal_point before = low;
    low = point_at(m, search, low.z - search->width);
    cover(m, search, low, before, MARGINAL_SPARE_PANELS);
  }
  while (may_extend(m, search, high, 0)) {
    marginal_point before = high;
    high = point_at(m, search, high.z + search->width);
    cover(m, search, before, high, 0);
  }
  if (!is_an_end(m, search, low) || !is_an_end(m, search, high)) m->gave_up = true;
}

/* Panels that hold less than e^-700 of the peak would underflow. */
static void weigh_panels(ev_marginal *m) {
  m->mass = 0;
  for (int i = 0; i < m->count; i++) {
    ev_panel *panel = &m->panels[i];
    int n = panel_parts(panel);
    if (panel->ln_most < m->ln_peak - 700) continue;
    for (int j = 0; j < n; j++)
      panel->mass += panel_mass(m, panel, -1 + 2.0 * j / n, -1 + 2.0 * (j + 1) / n);
    m->mass += panel->mass;
  }
}

ev_status ev_marginal_find(ev_marginal *m, const ev_search *search) {
  assert(search->width > 0 && search->ln_drop > 0 && search->tolerance > 0);
  assert(search->tail > 0 && search->budget > 0);
  m->count = m->evaluated = 0;
  m->gave_up = false;
  m->ln_peak = -HUGE_VAL;
  cover_all(m, search);
  qsort(m->panels, (size_t)m->count, sizeof *m->panels, panels_by_position);
  weigh_panels(m);
  for (int i = 0; i < m->count; i++)
    if (m->panels[i].gave_up && !panel_acceptable(m, search, &m->panels[i])) m->gave_up = true;
  bool any = m->ln_peak > MARGINAL_LN_ZERO && m->mass > 0 && isfinite(m->mass);
  return any && !m->gave_up ? EV_OK : EV_NOT_CONVERGED;
}

double ev_marginal_ln_total(const ev_marginal *m) {
  return m->ln_peak + log(m->mass);
}

/* The mass of a panel above z, or below it. */
static double panel_mass_beyond(const ev_marginal *m, const ev_panel *panel, double z, bool above) {
  const ev_panel_shape *p = &panel->shape;
  if (above ? z <= p->from : z >= p->to) return panel->mass;
  if (above ? z >= p->to : z <= p->from) return 0;
  double end = above ? 1 : -1, x = shape_point(p, z), mass = 0;
  int n = panel_parts(panel);
  for (int j = 0; j < n; j++)
    mass += fabs(panel_mass(m, panel, end + (x - end) * j / n, end + (x - end) * (j + 1) / n));
  return mass;
}

double ev_marginal_beyond(const ev_marginal *m, double z, bool above) {
  double mass = 0;
  for (int i = 0; i < m->count; i++)
    mass += panel_mass_beyond(m, &m->panels[above ? m->count - 1 - i : i], z, above);
  return mass / m->mass;
}

/* The part of a panel, between two of its points, that contains a quantile, and the mass from its
** start to the quantile. */
typedef struct quantile_part {
  double begin, end, left, mass;
} quantile_part;

/* The part in which the mass beyond it, counted from the lower or upper side of the
** panel, comes to `mass`. */
static quantile_part part_with(const ev_marginal *m, const ev_panel *panel, double mass,
                               double side) {
  int n = panel_parts(panel);
  quantile_part part = {side, side, mass, 0};
  for (int j = 0; j < n; j++) {
    part.begin = part.end;
    part.end = side * (1 - 2.0 * (j + 1) / n);
    part.mass = fabs(panel_mass(m, panel, part.begin, part.end));
    if (part.left <= part.mass) break;
    if (j < n - 1) part.left -= part.mass;
  }
  return part;
}

/* Newton's method takes about 5 steps.  Rounding of the mass can prevent convergence; the last step
** then was short. */
enum { MARGINAL_QUANTILE_STEPS = 100 };
static const double MARGINAL_QUANTILE_TOLERANCE = 1e-11;

/* The point of a panel with `mass` of its mass below (side -1), or above (side 1): the
** part that it lies in, then Newton's method within, or bisection where that leads
** out. */
static bool quantile_in_panel(const ev_marginal *m, const ev_panel *panel, double mass, double side,
                              double *z) {
  quantile_part part = part_with(m, panel, mass, side);
  ev_bracket in = {fmin(part.begin, part.end), fmax(part.begin, part.end)};
  double step = HUGE_VAL;
  double x = part.begin + (part.end - part.begin) * fmin(1, part.left / part.mass);
  for (int i = 0; i < MARGINAL_QUANTILE_STEPS; i++) {
    double excess = fabs(panel_mass(m, panel, part.begin, x)) - part.left;
    double density = panel_density(m, panel, x);
    step = excess / (density * shape_slope(&panel->shape, x)) * side;
    double next = ev_bracket_next(&in, x, (excess > 0) == (side < 0), x + step);
    if (fabs(step) < 1e-15 || in.high - in.low < 1e-15) break;
    x = next;
  }
  *z = shape_place(&panel->shape, x);
  return fmin(fabs(step), in.high - in.low) < MARGINAL_QUANTILE_TOLERANCE;
}

ev_status ev_marginal_interval(const ev_marginal *m, double tail, ev_interval *z) {
  double below = tail * m->mass, above = below;
  int i = 0, j = m->count - 1;
  assert(m->count > 0 && tail > 0 && tail < 1);
  for (; i < m->count - 1 && below > m->panels[i].mass; i++) below -= m->panels[i].mass;
  for (; j > 0 && above > m->panels[j].mass; j--) above -= m->panels[j].mass;
  if (!quantile_in_panel(m, &m->panels[i], below, -1, &z->lo) ||
      !quantile_in_panel(m, &m->panels[j], above, 1, &z->hi))
    return EV_NOT_CONVERGED;
  return ev_interval_status(*z);
}

/* The trapezoid rule's steps in each direction: 480 was the largest number observed. */
enum { TRAPEZOID_STEPS = 2000 };

/* Goes both ways from the peak, and rescales the sum where a term is larger than all before. */
double ev_ln_integral(ev_ln_density *ln_density, void *context, double peak, double step,
                      double ln_drop, double *ln_truncated) {
  double best = -HUGE_VAL, sum = 0, first = -HUGE_VAL;
  *ln_truncated = -HUGE_VAL;
  for (int side = 1; side >= -1; side -= 2) {
    double here = first;
    bool fell = false;
    for (int j = side > 0 ? 0 : 1; j <= TRAPEZOID_STEPS && !fell; j++) {
      here = ln_density(peak + side * j * step, context);
      if (j == 0) first = here;
      if (here > best) {
        sum = sum * exp(best - here) + 1;
        best = here;
      } else {
        /* negligible, also if only -infinity has been evaluated so far */
        sum += here == -HUGE_VAL ? 0 : exp(here - best);
        fell = here < best - ln_drop;
      }
    }
    if (!fell) *ln_truncated = fmax(*ln_truncated, here);
  }
  if (isnan(sum)) return NAN;
  return (sum > 0 ? best + log(sum) : -HUGE_VAL) + log(step);
}
