/*
** The difference of two independent means of graded scores.
**
** The distribution of each mean is tabulated once.  A tail of the difference then is one
** integral, of the density of the narrower mean times a tail of the wider: a product of
** log-concave functions, so it has one peak, which golden section finds, and falls off
** on both sides at least exponentially.  Gauss-Legendre nodes do the rest, on pieces of
** either side that are parted at the panels' ends too.
**
** For a difference delta >= 0 of shares of the range, the positions on the line
** x - u = delta are measured from its ends: x = delta + L s, u = L s, 1 - x = L (1 - s),
** 1 - u = delta + L (1 - s), L = 1 - delta.  No digit is lost where the means are near
** an end.  For delta < 0 the models are exchanged.
*/
#include "mean_diff.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "atoms.h"
#include "dirichlet.h"
#include "marginal.h"
#include "mean_table.h"

/*
** A tail of the difference
*/
typedef struct mean_line {
  const ev_mean_table *narrow, *wide;
  ev_mean_curve tail;   /* of the wide one */
  bool narrow_first;    /* it is the minuend */
  double delta, length; /* at least 0; 1 - delta */
} mean_line;

/* The logits of minuend and subtrahend at a place on the line, given by the logit of
** its share of the way. */
typedef struct mean_place {
  double minuend, subtrahend;
  ev_point share;
} mean_place;

static mean_place place_on(const mean_line *line, double v) {
  ev_point s = ev_at_logit(v);
  double low = line->length * s.x, high = line->length * s.y;
  return (mean_place){log((line->delta + low) / high), log(low / (line->delta + high)), s};
}

/* ln of the integrand over v.  A curve is the density of a logit: x(1-x) makes it one
** of x, and cancels against most of dx/dv. */
static double ln_on_mean_line(const mean_line *line, double v) {
  mean_place p = place_on(line, v);
  double narrow = line->narrow_first ? p.minuend : p.subtrahend;
  double wide = line->narrow_first ? p.subtrahend : p.minuend;
  double dx = line->narrow_first ? p.share.x / (line->delta + line->length * p.share.x)
                                 : p.share.y / (line->delta + line->length * p.share.y);
  return ev_mean_curve_at(line->narrow, EV_MEAN_DENSITY, narrow) +
         ev_mean_curve_at(line->wide, line->tail, wide) + log(dx);
}

/* Beyond these places a share of the way is no longer a normal number. */
static const double LINE_END = 700;

static double line_peak(const mean_line *line) {
  const double golden = 0.6180339887498949;
  double low = -LINE_END, high = LINE_END;
  double v = high - golden * (high - low), w = low + golden * (high - low);
  double at_v = ln_on_mean_line(line, v), at_w = ln_on_mean_line(line, w);
  for (int i = 0; i < 80; i++) {
    if (at_v >= at_w) {
      high = w, w = v, at_w = at_v;
      v = high - golden * (high - low), at_v = ln_on_mean_line(line, v);
    } else {
      low = v, v = w, at_v = at_w;
      w = low + golden * (high - low), at_w = ln_on_mean_line(line, w);
    }
  }
  return (low + high) / 2;
}

/* How far below its peak, in logarithms, the integrand is negligible. */
static const double LINE_CUT = 42;

/* Where it has fallen so far, on one side. */
static double line_end(const mean_line *line, double peak, double ln_peak, double side) {
  double near = 0, far = 1e-9;
  while (peak + side * far > -LINE_END && peak + side * far < LINE_END &&
         ln_on_mean_line(line, peak + side * far) > ln_peak - LINE_CUT)
    near = far, far *= 2;
  for (int i = 0; i < 10; i++) {
    double mid = (near + far) / 2;
    if (ln_on_mean_line(line, peak + side * mid) > ln_peak - LINE_CUT)
      near = mid;
    else
      far = mid;
  }
  return fmax(-LINE_END, fmin(LINE_END, peak + side * far));
}

/* Pieces of either side, parted at the panels' ends too. */
enum { SIDE_PIECES = 14, LINE_EDGES = 2 * SIDE_PIECES + 1 + 2 * (EV_TABLE_PANELS + 1) };

typedef struct line_edges {
  int count;
  double low, high, v[LINE_EDGES];
} line_edges;

static void add_edge(line_edges *edges, double v) {
  if (v >= edges->low && v <= edges->high) edges->v[edges->count++] = v;
}

static int compare_edges(const void *left, const void *right) {
  const double *a = left, *b = right;
  return (*a > *b) - (*a < *b);
}

static void add_table_edges(const mean_line *line, const ev_mean_table *table, bool minuend,
                            line_edges *edges) {
  for (int i = 0; i < table->count; i++) {
    ev_point m = ev_at_logit(table->panels[i].to);
    double low = minuend ? m.x - line->delta : m.x, high = minuend ? m.y : m.y - line->delta;
    if (low > 0 && high > 0) add_edge(edges, log(low / high));
  }
}

static void find_edges(const mean_line *line, double peak, double ln_peak, line_edges *edges) {
  edges->count = 0;
  edges->low = line_end(line, peak, ln_peak, -1);
  edges->high = line_end(line, peak, ln_peak, 1);
  for (int i = 0; i < SIDE_PIECES; i++) {
    double share = (double)i / SIDE_PIECES;
    add_edge(edges, edges->low + (peak - edges->low) * share);
    add_edge(edges, edges->high - (edges->high - peak) * share);
  }
  add_edge(edges, peak);
  add_table_edges(line, line->narrow, line->narrow_first, edges);
  add_table_edges(line, line->wide, !line->narrow_first, edges);
  qsort(edges->v, (size_t)edges->count, sizeof *edges->v, compare_edges);
}

static double ln_line_integral(const mean_line *line) {
  double peak = line_peak(line), ln_peak = ln_on_mean_line(line, peak), sum = 0;
  line_edges edges;
  find_edges(line, peak, ln_peak, &edges);
  for (int i = 1; i < edges.count; i++) {
    double mid = (edges.v[i - 1] + edges.v[i]) / 2, half = (edges.v[i] - edges.v[i - 1]) / 2;
    for (int j = 0; j < EV_NODES && half > 0; j++)
      sum += half * ev_weight(j) * exp(ln_on_mean_line(line, mid + half * ev_node(j)) - ln_peak);
  }
  return sum > 0 ? ln_peak + log(sum) : -HUGE_VAL;
}

static double ln_added(double a, double b) {
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* Two means, and about how they differ. */
typedef struct mean_pair {
  const ev_mean_table *a, *b;
  double mean, sd; /* of a less b */
} mean_pair;

static double share_sd(const ev_dirichlet *d) {
  return d->spread * d->mean.x * d->mean.y;
}

/* ln P(a - b <= delta), or of the rest. */
static double ln_diff_tail(const mean_pair *pair, double delta, bool upper) {
  /* Where b is to be the larger, b - a is asked. */
  bool turned = delta < 0;
  const ev_mean_table *first = turned ? pair->b : pair->a, *second = turned ? pair->a : pair->b;
  bool above = upper != turned;
  bool first_narrow = share_sd(&first->d) != share_sd(&second->d)
                          ? share_sd(&first->d) < share_sd(&second->d)
                          : !turned;
  mean_line line = {.narrow = first_narrow ? first : second,
                    .wide = first_narrow ? second : first,
                    .tail = above == first_narrow ? EV_MEAN_BELOW : EV_MEAN_ABOVE,
                    .narrow_first = first_narrow,
                    .delta = fabs(delta),
                    .length = 1 - fabs(delta)};
  double ln = ln_line_integral(&line);
  if (above || line.delta == 0) return ln;
  /* The part of the narrow one that leaves the other no place. */
  double beyond = log(line.delta / line.length);
  return ln_added(ln, first_narrow ? ev_mean_curve_at(first, EV_MEAN_BELOW, beyond)
                                   : ev_mean_curve_at(second, EV_MEAN_ABOVE, -beyond));
}

/* The normal deviate of a tail at a difference, less the one sought: rising, and nearly
** linear where the difference is nearly normal. */
static double deviate_gap(const mean_pair *pair, double delta, double z, bool upper) {
  double tail = exp(fmax(-690, ln_diff_tail(pair, delta, upper)));
  double deviate = gsl_cdf_ugaussian_Pinv(fmin(tail, 1));
  return upper ? z - deviate : deviate - z;
}

/* The difference with the mass below it, or above it: the secant method, in a bracket
** that is halved where secants did not halve it twice. */
static ev_status diff_quantile(const mean_pair *pair, double mass, bool upper, ev_host host,
                               double *delta) {
  double z = gsl_cdf_ugaussian_Pinv(mass), low = -1, high = 1, slope = 1 / pair->sd;
  double at = pair->mean + (upper ? -z : z) * pair->sd, last = 0, last_gap = 0, width = 4;
  for (int i = 0; i < 200; i++) {
    if (!(at > low && at < high) || (i % 3 == 2 && high - low > width / 2)) at = (low + high) / 2;
    if (i % 3 == 2) width = high - low;
    double gap = deviate_gap(pair, at, z, upper);
    if (isnan(gap)) return EV_NOT_CONVERGED;
    if (host.interrupted && host.interrupted(host.context)) return EV_INTERRUPTED;
    if (i > 0 && at != last) slope = (gap - last_gap) / (at - last);
    if (gap > 0)
      high = at;
    else
      low = at;
    last = at, last_gap = gap;
    bool close = fabs(gap) < 1e-7 && i > 0;
    at = slope > 0 ? at - gap / slope : HUGE_VAL;
    if (close || high - low <= 4 * DBL_EPSILON * fabs(last)) {
      *delta = fmax(low, fmin(high, close ? at : last));
      return EV_OK;
    }
  }
  return EV_NOT_CONVERGED;
}

/*
** The models
*/

/* Both lists of atoms in an order that knows nothing of which came first. */
typedef struct diff_problem {
  ev_score_range range;
  ev_atoms a, b;
  bool exchanged;
  bool alike;
  ev_mean_table *table_a, *table_b;
} diff_problem;

static ev_status set_diff_problem(const ev_score_list *a, const ev_score_list *b,
                                  const ev_options *options, diff_problem *problem) {
  *problem = (diff_problem){.range = ev_range_of(options->lo, options->hi)};
  ev_status status = ev_atoms_of_scores(a->scores, a->count, &problem->range, &problem->a);
  if (status == EV_OK)
    status = ev_atoms_of_scores(b->scores, b->count, &problem->range, &problem->b);
  if (status != EV_OK) return status;
  int order = ev_atoms_compare(&problem->a, &problem->b);
  problem->exchanged = order > 0;
  problem->alike = order == 0;
  if (problem->exchanged) {
    ev_atoms first = problem->a;
    problem->a = problem->b, problem->b = first;
  }
  double size = problem->range.hi - problem->range.lo;
  ev_imagine(&problem->a, size, 1, EV_AT_BOTH);
  ev_imagine(&problem->b, size, 1, EV_AT_BOTH);
  return EV_OK;
}

/* The mass beyond the tables' ends: a tail of the difference that is no smaller than the
** square root of it is not touched by what is left out.  To 1e-300, for the smallest
** probabilities, tables take five times as many panels. */
static const double SHALLOW_CUT = 1e-40, SHALLOW_TAIL = 1e-20, DEEP_CUT = 1e-300;

static void free_tables(diff_problem *problem) {
  ev_mean_table_free(problem->table_a);
  ev_mean_table_free(problem->table_b);
  problem->table_a = problem->table_b = NULL;
}

static ev_status tabulate_both(diff_problem *problem, double cut, ev_host host, mean_pair *pair) {
  free_tables(problem);
  ev_status status = ev_mean_table_make(&problem->a, cut, host, &problem->table_a);
  if (status == EV_OK) status = ev_mean_table_make(&problem->b, cut, host, &problem->table_b);
  if (status != EV_OK) return status;
  const ev_dirichlet *a = &problem->table_a->d, *b = &problem->table_b->d;
  *pair = (mean_pair){problem->table_a, problem->table_b, a->mean.x - b->mean.x,
                      hypot(share_sd(a), share_sd(b))};
  return EV_OK;
}

static void free_diff_problem(diff_problem *problem) {
  ev_atoms_free(&problem->a);
  ev_atoms_free(&problem->b);
  free_tables(problem);
}

static ev_status diff_bounds(diff_problem *problem, const ev_options *options, ev_host host,
                             ev_interval *ci) {
  mean_pair pair;
  double low, high, mass = ev_tail(options), width = problem->range.hi - problem->range.lo;
  ev_status status =
      tabulate_both(problem, mass < SHALLOW_TAIL ? DEEP_CUT : SHALLOW_CUT, host, &pair);
  if (status == EV_OK) status = diff_quantile(&pair, mass, true, host, &high);
  if (status != EV_OK) return status;
  low = -high;
  if (!problem->alike) status = diff_quantile(&pair, mass, false, host, &low);
  if (status != EV_OK) return status;
  if (problem->exchanged) {
    double turned = -low;
    low = -high, high = turned;
  }
  if (low >= high) {
    double mid = low;
    low = fmax(-1, nextafter(fmin(mid, high), -2)), high = fmin(1, nextafter(fmax(mid, high), 2));
  }
  *ci = (ev_interval){ldexp(low * width, problem->range.exponent),
                      ldexp(high * width, problem->range.exponent)};
  return EV_OK;
}

ev_status ev_mean_diff(const ev_score_list *a, const ev_score_list *b, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  diff_problem problem;
  ev_status status = set_diff_problem(a, b, options, &problem);
  if (status == EV_OK) status = diff_bounds(&problem, options, host, ci);
  free_diff_problem(&problem);
  return status;
}

/* The smaller of P(a - b > delta) and the rest, and which it is. */
static ev_status smaller_tail(diff_problem *problem, double cut, double delta, ev_host host,
                              bool *upper, double *smaller) {
  mean_pair pair;
  ev_status status = tabulate_both(problem, cut, host, &pair);
  if (status != EV_OK) return status;
  *upper = pair.mean < delta;
  *smaller = exp(ln_diff_tail(&pair, delta, *upper));
  if (*smaller > 0.5) {
    *upper = !*upper;
    *smaller = exp(ln_diff_tail(&pair, delta, *upper));
  }
  return isnan(*smaller) ? EV_NOT_CONVERGED : EV_OK;
}

/* P(a - b > delta), of the list that is first in order. */
static ev_status diff_share(diff_problem *problem, double delta, ev_host host, double *p) {
  bool upper;
  double smaller;
  ev_status status = smaller_tail(problem, SHALLOW_CUT, delta, host, &upper, &smaller);
  if (status == EV_OK && smaller < SHALLOW_TAIL)
    status = smaller_tail(problem, DEEP_CUT, delta, host, &upper, &smaller);
  if (status != EV_OK) return status;
  smaller = ev_with_exact_complement(smaller);
  *p = upper ? smaller : 1 - smaller;
  return EV_OK;
}

ev_status ev_mean_prob_better(const ev_score_list *a, const ev_score_list *b,
                              const ev_options *options, ev_host host, double *p) {
  diff_problem problem;
  ev_status status = set_diff_problem(a, b, options, &problem);
  double width = problem.range.hi - problem.range.lo;
  double delta = ldexp(options->margin, -problem.range.exponent) / width;
  bool turned = problem.exchanged || (problem.alike && delta < 0);
  if (status == EV_OK && fabs(delta) >= 1)
    *p = delta < 0 ? 1 : 0;
  else if (status == EV_OK && problem.alike && delta == 0)
    *p = 0.5;
  else if (status == EV_OK) {
    status = diff_share(&problem, turned ? -delta : delta, host, p);
    if (turned) *p = 1 - *p;
  }
  free_diff_problem(&problem);
  return status;
}
