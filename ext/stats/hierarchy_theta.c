/*
** The posterior of s = logit theta, from lines of constant d.
**
**   1. Along a line ln density is smooth, and known on a lattice: anywhere else it is that of the
**      polynomial through twelve points, and beyond the ends that of a parabola.
**   2. The density of s is the sum over lines.  It keeps its digits in the tails, as sums along
**      lines do not.
**   3. ev_marginal finds its quantiles and shares.
*/
#include <math.h>
#include <stdlib.h>

#include "hierarchy.h"
#include "lanes.h"
#include "marginal.h"

/* The number of points of a line from which a value between them is interpolated.  With points at
** most 0.26 apart, twelve leave 3e-9 of a function whose singularities are pi away. */
enum { LINE_TAPS = 12, TAP_GROUPS = LINE_TAPS / EV_LANES };

/* The posterior of logit theta at any place, from lines' points. */
typedef struct theta_density {
  const ev_hierarchy *h;
  double *ln;     /* owned: of each point's weight over its step */
  double *line;   /* of each line, at the place; room for EV_LANES more */
  unsigned asked; /* how often */
  bool interrupted;
} theta_density;

/* The density is asked for so often between two polls of the host: at most 20 ms, of 400 lines. */
enum { THETA_POLL = 32 };

/* The weights of the points 0 to 11 in the value at x of the polynomial through them. */
EV_INLINE void lagrange_weights(double x, ev_lanes *weight) {
  static const ev_lanes scale[TAP_GROUPS] = {
      {-1.0 / 39916800, 1.0 / 3628800, -1.0 / 725760, 1.0 / 241920},
      {-1.0 / 120960, 1.0 / 86400, -1.0 / 86400, 1.0 / 120960},
      {-1.0 / 241920, 1.0 / 725760, -1.0 / 3628800, 1.0 / 39916800},
  };
  /* At a point itself the quotient would be 0/0; next to it, it is as good. */
  if (x == rint(x)) x += 1e-12;
  ev_lanes low = x - (ev_lanes){0, 1, 2, 3}, mid = x - (ev_lanes){4, 5, 6, 7},
           high = x - (ev_lanes){8, 9, 10, 11}, product = low * mid * high;
  double all = (product[0] * product[1]) * (product[2] * product[3]);
  weight[0] = scale[0] * (all / low);
  weight[1] = scale[1] * (all / mid);
  weight[2] = scale[2] * (all / high);
}

/* The parabola through three points, at x steps from the first and away from the others; a line
** where that would bend upwards. */
EV_INLINE double extrapolate(double x, double first, double second, double third) {
  return first + x * (first - second) + x * (x + 1) / 2 * fmin(0, first - 2 * second + third);
}

/* ln density along a line at s. */
EV_INLINE double ln_of_line_at(const theta_density *t, const ev_hierarchy_line *line, double s) {
  double x = (s - line->first_s) / line->step_s, last = (double)line->count - 1;
  const double *ln = t->ln + line->first, *end = ln + line->count - 1;
  if (x < 0) return extrapolate(-x, ln[0], ln[1], ln[2]);
  if (x > last) return extrapolate(x - last, end[0], end[-1], end[-2]);
  double from = fmax(0, fmin(last - (LINE_TAPS - 1), floor(x) - (LINE_TAPS / 2 - 1)));
  ev_lanes weight[TAP_GROUPS], sum = {0};
  ln += (size_t)from;
  lagrange_weights(x - from, weight);
  for (int i = 0; i < TAP_GROUPS; i++) sum += weight[i] * *(const ev_lanes_of *)(ln + EV_LANES * i);
  return ev_sum(&sum);
}

EV_WIDE static double ln_theta_density(double s, void *context) {
  theta_density *t = context;
  double most = -1e300;
  ev_lanes sum = {0};
  if (t->asked++ % THETA_POLL == 0 && ev_interrupted(t->h->host)) t->interrupted = true;
  if (t->interrupted) return NAN;
  for (size_t i = 0; i < t->h->line_count; i++) {
    t->line[i] = ln_of_line_at(t, &t->h->lines[i], s);
    most = t->line[i] > most ? t->line[i] : most;
  }
  for (size_t i = 0; i < t->h->line_count; i += EV_LANES) {
    ev_lanes part = *(const ev_lanes_of *)(t->line + i) - most;
    ev_exp(&part, 1);
    sum += part;
  }
  return most + log(ev_sum(&sum));
}

/* Mean and sd of logit theta. */
static void place_search(const ev_hierarchy *h, ev_search *search) {
  double mean = 0, square = 0;
  for (size_t i = 0; i < h->line_count; i++)
    for (size_t j = 0; j < h->lines[i].count; j++) {
      double s = h->lines[i].first_s + (double)j * h->lines[i].step_s;
      double weight = h->points[h->lines[i].first + j].weight;
      mean += weight * s;
      square += weight * s * s;
    }
  search->start = mean;
  search->width = fmin(2, 4 * sqrt(fmax(1e-20, square - mean * mean)));
}

/* The error of the density: a fraction of what interpolation leaves. */
static const double THETA_TOLERANCE = 1e-9;

ev_status ev_hierarchy_theta(const ev_hierarchy *h, double tail, ev_marginal *m) {
  theta_density t = {.h = h};
  t.ln = malloc((h->count + h->line_count + EV_LANES) * sizeof *t.ln);
  if (!t.ln) return EV_NO_MEMORY;
  t.line = t.ln + h->count;
  for (size_t i = 0; i < h->line_count; i++)
    for (size_t j = h->lines[i].first; j < h->lines[i].first + h->lines[i].count; j++)
      t.ln[j] = log(h->points[j].weight / h->lines[i].step_s);
  for (int i = 0; i < EV_LANES; i++) t.line[h->line_count + (size_t)i] = -1e300;
  ev_search search = {.ln_density = ln_theta_density,
                      .context = &t,
                      .ln_drop = 20 - log(tail),
                      .tolerance = THETA_TOLERANCE,
                      .tail = tail,
                      .budget = 4800};
  place_search(h, &search);
  ev_status status = ev_marginal_find(m, &search);
  free(t.ln);
  return t.interrupted ? EV_INTERRUPTED : status;
}

ev_status ev_hierarchy_interval(const ev_hierarchy *h, const ev_options *options, ev_interval *ci) {
  double tail = ev_tail(options);
  ev_marginal m;
  ev_interval s;
  ev_status status = ev_hierarchy_theta(h, tail, &m);
  if (status == EV_OK) status = ev_marginal_interval(&m, tail, &s);
  if (status == EV_OK) *ci = (ev_interval){ev_at_logit(s.lo).x, ev_at_logit(s.hi).x};
  return status;
}
