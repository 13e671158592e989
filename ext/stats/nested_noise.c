/*
** Where the noise is: shares of an answer's variance in the nested model (nested.h).
**
** With r1 = ln d1, r2 = ln d2 and S the logistic function the shares are
**
**     within tasks  S(r1),    reruns  S(r1) S(r2),    questions  S(r1) S(-r2).
**
**   1. The mean of each is a sum over the posterior's points.
**   2. The density of (r1, r2) is a row of nodes of r2 at each line of d1; between lines its
**      logarithm is interpolated by polynomials in t = ln(d1 + near) - ln(1 + d1/far), which is d1
**      near 0, 1/d1 near infinity and r1 between, as hierarchy.c's panels are.
**      A node of negligible density on two lines, where the points left out matter to it, is not
**      a smooth function of t; its density between them is limited (BETWEEN_LINES).
**   3. P(share > q) is an integral over r1 > r* = logit q of the mass of r2 beyond
**
**          T = logit(q / S(r1)) = r* - ln S(r1) - ln(1 - e^(r* - r1)),
**
**      which is the integral of sinc functions.  T goes to infinity as r1 falls to r*: with
**      r1 = r* + c ln(1 + e^z) the integrand is smooth in z on the whole axis, and dies out at
**      both ends, for the trapezoid rule.
**      Where the density of r1 is rougher than its sd says, the step is halved until it
**      integrates to 1.
**   4. Bounds are found by secants.
*/
#include <math.h>
#include <stdlib.h>

#include "nested_posterior.h"
#include "root.h"
#include "sinc.h"

/* Lines that a polynomial goes through, and steps of z one way. */
enum { PLANE_TAPS = 12, PLANE_STEPS = 100000 };

typedef enum part_of_variance { OF_WITHIN, OF_QUESTIONS, OF_RERUNS } part_of_variance;

/* The density of t and of nodes of ln d2 at each line. */
typedef struct plane {
  const ev_nested_posterior *p;
  size_t nodes, lines;
  double near, far;         /* of t */
  double least, most;       /* r1, beyond which lines are negligible */
  double *t;                /* owned: of each line, rising */
  double *ln;               /* [lines][nodes]: ln of the density */
  double *row;              /* room for one: the density at an r1 */
  double mode, ln_most, sd; /* of r1 */
  double step_z;            /* of z, at most */
} plane;

/* Which share is asked about. */
typedef struct share_request {
  plane *plane;
  part_of_variance which;
} share_request;

static int by_d(const void *a, const void *b) {
  const ev_hierarchy_line *x = a, *y = b;
  return (x->d > y->d) - (x->d < y->d);
}

static double t_of(const plane *m, double d) {
  return log(d + m->near) - log1p(d / m->far);
}

/* ln of dt/dr1. */
static double ln_slope(const plane *m, double d) {
  return log(d / (d + m->near) - d / (d + m->far));
}

/* ln of the density of t at a line, by nodes; returns its sum.  The weight of a point has a measure
** of d1, and a step of logit theta. */
static double fill_line(const plane *m, const ev_hierarchy_line *line, double *ln) {
  const ev_nested_posterior *p = m->p;
  double total = 0, d = line->d;
  double ln_prior = p->options->prior == EV_PRIOR_ICC ? -2 * log1p(d) : -d;
  double ln_factor = ln_prior + log(line->step_s * d) - line->ln_measure - ln_slope(m, d);
  for (size_t b = 0; b < m->nodes; b++) {
    double sum = 0;
    for (size_t j = line->first; j < line->first + line->count; j++)
      sum += p->weight[j * m->nodes + b];
    total += sum;
    ln[b] = ln_factor + log(fmax(sum, 1e-300));
  }
  return ln_factor + log(fmax(total, 1e-300));
}

/* The outermost of 16 nodes of Gauss and Legendre on (0,1). */
static const double FIRST_NODE = 0.0052995325;

/* Finds out whether the outermost lines belong to panels of d or of 1/d, which begin at 0. */
static void find_ends(plane *m, const ev_hierarchy_line *lines, size_t count) {
  *m = (plane){.far = HUGE_VAL, .least = -HUGE_VAL, .most = HUGE_VAL, .ln_most = -HUGE_VAL};
  if (lines[1].d > 3 * lines[0].d) m->near = lines[0].d / FIRST_NODE;
  if (lines[count - 1].d > 3 * lines[count - 2].d) m->far = lines[count - 1].d * FIRST_NODE;
  if (m->near == 0) m->least = log(lines[0].d);
  if (m->far == HUGE_VAL) m->most = log(lines[count - 1].d);
  m->lines = count;
}

static ev_status make_plane(ev_nested_posterior *p, plane *m) {
  size_t nodes = p->tasks.nodes;
  qsort(p->h.lines, p->h.line_count, sizeof *p->h.lines, by_d);
  find_ends(m, p->h.lines, p->h.line_count);
  m->p = p;
  m->nodes = nodes;
  m->t = malloc((m->lines * (1 + nodes) + nodes) * sizeof *m->t);
  if (!m->t) return EV_NO_MEMORY;
  m->ln = m->t + m->lines;
  m->row = m->ln + m->lines * nodes;
  for (size_t i = 0; i < m->lines; i++) {
    const ev_hierarchy_line *line = &p->h.lines[i];
    m->t[i] = t_of(m, line->d);
    double ln = fill_line(m, line, m->ln + i * nodes) + ln_slope(m, line->d);
    if (ln > m->ln_most) m->mode = log(line->d);
    m->ln_most = fmax(m->ln_most, ln);
  }
  return m->lines < PLANE_TAPS ? EV_NOT_CONVERGED : EV_OK;
}

/* How far below its mode the density of r1 is negligible. */
static const double PLANE_LN_DROP = 32;

/* The most by which the ln density of a node may be higher between two lines than on them: lines
** are closer than its sd. */
static const double BETWEEN_LINES = 1;

/* Sets the row to the density of r1 and nodes at r, and returns its sum: the polynomials through
** the lines from `low` on, of which `below` and below + 1 are next to r. */
static double set_row(plane *m, double r) {
  double at = t_of(m, exp(r)), plus = ln_slope(m, exp(r)), weight[PLANE_TAPS], all = 0;
  size_t low = 0, below;
  while (low + PLANE_TAPS < m->lines && m->t[low + PLANE_TAPS / 2] < at) low++;
  for (below = low; below + 2 < low + PLANE_TAPS && m->t[below + 1] < at;) below++;
  for (int i = 0; i < PLANE_TAPS; i++) {
    const double *t = m->t + low;
    weight[i] = 1;
    for (int k = 0; k < PLANE_TAPS; k++)
      if (k != i) weight[i] *= (at - t[k]) / (t[i] - t[k]);
  }
  for (size_t b = 0; b < m->nodes; b++) {
    const double *ln = m->ln + low * m->nodes + b, *near = m->ln + below * m->nodes + b;
    double sum = 0;
    for (size_t i = 0; i < PLANE_TAPS; i++) sum += weight[i] * ln[i * m->nodes];
    all += m->row[b] = exp(plus + fmin(sum, fmax(near[0], near[m->nodes]) + BETWEEN_LINES));
  }
  return all;
}

/* Of a row with that sum, the mass of r2 beyond t, or of -r2. */
static double mass_beyond(const plane *m, part_of_variance which, double all, double t) {
  double place = ((which == OF_RERUNS ? t : -t) - m->p->first_r) / m->p->step_r;
  if (which == OF_WITHIN) return all;
  double below = ev_sinc_below(m->row, m->nodes, place);
  return which == OF_RERUNS ? all - below : below;
}

/* The step of z: it is at most that of the plane, and it moves T by at most 0.7 sd of r2 where the
** density is not negligible. */
static double step_of_z(const plane *m, part_of_variance which, double at, double c) {
  double away = fmax(at, m->mode - 5 * m->sd) - at;
  double speed = away > 0 ? fmin(1, c * (1 + 1 / expm1(away))) : 1;
  return which == OF_WITHIN ? m->step_z : fmin(m->step_z, 1.4 * m->p->step_r / speed);
}

/* P(share > S(at)), from the mode of r1 both ways. */
static double part_above(double at, const share_request *asked) {
  plane *m = asked->plane;
  double c = fmin(1, m->sd), step = step_of_z(m, asked->which, at, c), sum = 0;
  double start = (fmax(at, m->mode) - at) / c;
  for (int way = -1; way <= 1; way += 2)
    for (int i = way > 0 ? 0 : 1; i < PLANE_STEPS; i++) {
      double z = start + way * i * step, away = c * (z > 30 ? z : log1p(exp(z)));
      double r = at + away, slope = c / (1 + exp(-z));
      if (r < m->least || r > m->most) break;
      double all = set_row(m, r), t = at + log1p(exp(-r)) - log(-expm1(-away));
      if (!(log(all * slope) > m->ln_most - PLANE_LN_DROP)) break;
      sum += slope * mass_beyond(m, asked->which, all, t);
    }
  return sum * step;
}

/* ln(p / share), or that of the complements where they are smaller. */
static double excess_of(double p, double share) {
  return share < 0.5 ? log(fmax(p, 1e-300) / share) : -log(fmax(1 - p, 1e-300) / (1 - share));
}

/* Moves *x from a guess to where P(share > S(x)) is `share`; `scale` is that on which it falls.
** By secants in a bracket; the step before the last is the last one's error. */
static ev_status find_part_bound(const share_request *asked, double share, double scale,
                                 double *x) {
  ev_bracket in = {-60, 60};
  double at = fmax(-59, fmin(59, *x)), before = NAN, excess_before = NAN;
  for (int i = 0; i < 200; i++) {
    double excess = excess_of(part_above(at, asked), share);
    double wish = at - excess * (at - before) / (excess - excess_before);
    if (isnan(excess)) return EV_NOT_CONVERGED;
    if (i == 0) wish = at + (excess > 0 ? scale : -scale);
    if (excess == 0) wish = at;
    if (i > 0 && (fabs(wish - at) < 1e-6 * scale || in.high - in.low < 1e-10)) {
      *x = wish;
      return EV_OK;
    }
    before = at;
    excess_before = excess;
    at = ev_bracket_next(&in, at, excess < 0, wish);
  }
  return EV_NOT_CONVERGED;
}

/* Sums of a share and of its square. */
static void add_share(double share, double weight, ev_each *sums) {
  sums->mean += weight * share;
  sums->hi += weight * share * share;
}

/* Means; in `hi` the mean square.  The sd of ln d1. */
static double find_means(const ev_nested_posterior *p, ev_noise *noise) {
  double mean = 0, square = 0;
  *noise = (ev_noise){.repeated = p->tasks.repeated};
  for (size_t i = 0; i < p->h.count; i++) {
    double d1 = p->h.points[i].d, within = d1 / (1 + d1), r = log(d1);
    for (size_t b = 0; b < p->tasks.nodes; b++) {
      double weight = p->weight[i * p->tasks.nodes + b], d2 = p->tasks.d2[b];
      mean += weight * r;
      square += weight * r * r;
      add_share(1 / (1 + d1), weight, &noise->tasks);
      add_share(within, weight, &noise->within);
      add_share(within / (1 + d2), weight, &noise->questions);
      add_share(within * (d2 / (1 + d2)), weight, &noise->reruns);
    }
  }
  return sqrt(fmax(1e-12, square - mean * mean));
}

/* Bounds of a share, of which the mean and the mean square are known. */
static ev_status find_part_bounds(plane *m, part_of_variance which, ev_each *share) {
  share_request asked = {m, which};
  double tail = ev_tail(m->p->options), mean = share->mean;
  double sd = sqrt(fmax(1e-20, share->hi - mean * mean)) / (mean * (1 - mean));
  double middle = log(mean / (1 - mean)), scale = fmin(2, sd / 4);
  share->lo = middle - 2 * sd;
  share->hi = middle + 2 * sd;
  ev_status status = find_part_bound(&asked, 1 - tail, scale, &share->lo);
  if (status == EV_OK) status = find_part_bound(&asked, tail, scale, &share->hi);
  share->lo = ev_at_logit(share->lo).x;
  share->hi = ev_at_logit(share->hi).x;
  return status;
}

/* How far the interpolated density may integrate to other than 1, and how near is enough. */
static const double PLANE_ERROR = 1e-6, PLANE_GOOD = 1e-8;

/* The first step of z, in sd of r1, and the least: where tasks are hardly told from questions, the
** density of r1 has two modes, each narrower than both. */
static const double PLANE_FIRST_STEP = 0.35, PLANE_LEAST_STEP = 0.05;

/* Halves the step of z until the density integrates to 1; false if it does not. */
static bool find_step_of_z(plane *m, part_of_variance which) {
  for (;;) {
    double error = fabs(part_above(-60, &(share_request){m, which}) - 1);
    if (!(error > PLANE_GOOD)) return error <= PLANE_GOOD;
    if (m->step_z < PLANE_LEAST_STEP) return error < PLANE_ERROR;
    m->step_z /= 2;
  }
}

static ev_status find_parts(ev_nested_posterior *p, ev_noise *noise) {
  plane m;
  ev_status status = make_plane(p, &m);
  m.sd = find_means(p, noise);
  m.step_z = PLANE_FIRST_STEP;
  part_of_variance last = noise->repeated ? OF_RERUNS : OF_WITHIN;
  for (part_of_variance which = OF_WITHIN; status == EV_OK && which <= last; which++)
    if (!find_step_of_z(&m, which)) status = EV_NOT_CONVERGED;
  if (status == EV_OK) status = find_part_bounds(&m, OF_WITHIN, &noise->within);
  noise->tasks.lo = 1 - noise->within.hi;
  noise->tasks.hi = 1 - noise->within.lo;
  if (status == EV_OK && noise->repeated) {
    status = find_part_bounds(&m, OF_QUESTIONS, &noise->questions);
    if (status == EV_OK) status = find_part_bounds(&m, OF_RERUNS, &noise->reruns);
  }
  free(m.t);
  return status;
}

ev_status ev_nested_noise(const ev_items *items, const ev_options *options, ev_host host,
                          ev_noise *noise) {
  ev_nested_posterior p;
  ev_status status = ev_nested_posterior_make(items, options, host, EV_NESTED_NOISE, &p);
  if (status == EV_OK) status = find_parts(&p, noise);
  ev_nested_posterior_free(&p);
  return status;
}
