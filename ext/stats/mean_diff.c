/*
** The difference of two independent means of graded scores.
**
** The lower bound of a - b uses the lower posterior of a and the upper one of b, the upper
** bound uses the other two (imagined.c).  If a model has scores at both ends of the range, its
** two posteriors are the same; here they are also made the same if all its scores are at one
** end, as in Beta(1 + k, 1 + n - k).
**
** The distribution of each mean is tabulated once.  A tail of the difference then is one
** integral, of the density of the narrower mean times a tail of the wider: a product of
** log-concave functions, so it has one peak, which bisection finds, and falls off
** on both sides at least exponentially.  Gauss-Legendre nodes do the rest, on pieces of
** either side that are parted at the panels' ends too.
**
** A mean lies between the lowest and the highest of its scores, imagined ones among them.
** A point on the part of the line x - u = delta where both means can lie is given by its
** position s, 0 to 1, and a mean by its distances from its own ends, each a constant plus
** L s or L (1 - s), L the length: no digit is lost where a mean is near an end.
*/
#include "mean_diff.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "atoms.h"
#include "dirichlet.h"
#include "imagined.h"
#include "marginal.h"
#include "mean_table.h"
#include "root.h"

/*
** A tail of the difference
*/
/* The distance of a mean's ends from those of the line, in its range. */
typedef struct line_gaps {
  double low, high;
} line_gaps;

typedef struct mean_line {
  const ev_mean_table *narrow, *wide;
  ev_mean_curve tail; /* of the wide one */
  line_gaps narrow_gaps, wide_gaps;
  double length;
} mean_line;

/* ln of the integrand over v, the logit of the share of the way.  A curve is the density
** of a mean's own logit: ln of (low + high) / (low high) times dx/dv is added. */
static double ln_on_mean_line(const mean_line *line, double v) {
  ev_point s = ev_at_logit(v);
  double on = line->length * s.x, off = line->length * s.y;
  double low = line->narrow_gaps.low + on, high = line->narrow_gaps.high + off;
  double wide = log((line->wide_gaps.low + on) / (line->wide_gaps.high + off));
  return ev_mean_curve_at(line->narrow, EV_MEAN_DENSITY, log(low / high)) +
         ev_mean_curve_at(line->wide, line->tail, wide) +
         log(on / low * (s.y * (low + high) / high));
}

/* At |v| beyond this, s or 1 - s is not a normal number; and over what distance it is seen whether
** the integrand rises. */
static const double LINE_END = 700, LINE_RISE = 1e-6;

/* By bisection: the integrand rises below its peak.  40 steps leave 1,400 / 2^40 = 1e-9. */
static double line_peak(const mean_line *line) {
  ev_bracket in = {-LINE_END, LINE_END};
  double v = 0;
  for (int i = 0; i < 40; i++) {
    bool rises = ln_on_mean_line(line, v + LINE_RISE) > ln_on_mean_line(line, v);
    v = ev_bracket_next(&in, v, !rises, NAN);
  }
  return v;
}

/* How far below its peak, in logarithms, the integrand is negligible. */
static const double LINE_CUT = 42;

/* The place, on one side, at which it has fallen to this: found by doubling a distance, from less
** than any line needs, and then to 2^-10 of it, since only the pieces' length depends on it. */
static double line_end(const mean_line *line, double peak, double ln_peak, double side) {
  ev_bracket in = {0, 1e-9};
  while (peak + side * in.high > -LINE_END && peak + side * in.high < LINE_END &&
         ln_on_mean_line(line, peak + side * in.high) > ln_peak - LINE_CUT)
    in.low = in.high, in.high *= 2;
  double x = (in.low + in.high) / 2;
  for (int i = 0; i < 10; i++) {
    bool fallen = !(ln_on_mean_line(line, peak + side * x) > ln_peak - LINE_CUT);
    x = ev_bracket_next(&in, x, fallen, NAN);
  }
  return fmax(-LINE_END, fmin(LINE_END, peak + side * in.high));
}

/* The number of pieces on each side, split at the panels' ends too: each spans 42/14 = 3 of the
** logarithm if the integrand falls evenly, as little as 16 nodes integrate to the last digit. */
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
  return ev_compare_numbers(*a, *b);
}

static void add_table_edges(const ev_mean_table *table, line_gaps gaps, line_edges *edges) {
  for (int i = 0; i < table->count; i++) {
    ev_point m = ev_at_logit(table->panels[i].to);
    double low = table->width * m.x - gaps.low, high = table->width * m.y - gaps.high;
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
  add_table_edges(line->narrow, line->narrow_gaps, edges);
  add_table_edges(line->wide, line->wide_gaps, edges);
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

/* Two means, and their approximate difference. */
typedef struct mean_pair {
  const ev_mean_table *a, *b;
  double mean, sd; /* of a less b */
} mean_pair;

static double table_sd(const ev_mean_table *table) {
  return table->width * table->d.spread * table->d.mean.x * table->d.mean.y;
}

/* p less q, from the side that keeps its digits. */
static double point_difference(ev_point p, ev_point q) {
  return p.x < p.y ? p.x - q.x : q.y - p.y;
}

/* ln of the tail of a mean at `low` above its lowest value; -HUGE_VAL or 0 outside its
** range. */
static double ln_mass_beyond(const ev_mean_table *table, ev_mean_curve tail, double low) {
  double high = table->width - low;
  if (low <= 0 || high <= 0) return (tail == EV_MEAN_BELOW) == (high <= 0) ? 0 : -HUGE_VAL;
  return ev_mean_curve_at(table, tail, log(low / high));
}

/* ln P(a - b <= delta), or of the rest. */
static double ln_diff_tail(const mean_pair *pair, double delta, bool upper) {
  const ev_mean_table *a = pair->a, *b = pair->b;
  /* Beyond the line, all or nothing of the narrow mean counts. */
  double low = delta - point_difference(a->least, b->least);
  double high = point_difference(a->most, b->most) - delta;
  line_gaps gaps_a = {fmax(0, low), fmax(0, high)}, gaps_b = {fmax(0, -low), fmax(0, -high)};
  /* Computed from the shorter support: a long one would lose its digits. */
  double length = a->width <= b->width ? a->width - gaps_a.low - gaps_a.high
                                       : b->width - gaps_b.low - gaps_b.high;
  bool narrow_a = table_sd(a) <= table_sd(b);
  mean_line line = {.narrow = narrow_a ? a : b,
                    .wide = narrow_a ? b : a,
                    .tail = upper == narrow_a ? EV_MEAN_BELOW : EV_MEAN_ABOVE,
                    .narrow_gaps = narrow_a ? gaps_a : gaps_b,
                    .wide_gaps = narrow_a ? gaps_b : gaps_a,
                    .length = length};
  double gap = line.tail == EV_MEAN_ABOVE ? line.narrow_gaps.low : line.narrow_gaps.high;
  double beyond = -HUGE_VAL;
  if (gap > 0)
    beyond = line.tail == EV_MEAN_ABOVE
                 ? ln_mass_beyond(line.narrow, EV_MEAN_BELOW, gap)
                 : ln_mass_beyond(line.narrow, EV_MEAN_ABOVE, line.narrow->width - gap);
  if (line.length <= 0) return beyond;
  double ln = ln_line_integral(&line);
  return beyond > -HUGE_VAL ? ln_added(ln, beyond) : ln;
}

/* The normal deviate of a tail at a difference, less the one sought: rising, and nearly
** linear where the difference is nearly normal. */
static double deviate_gap(const mean_pair *pair, double delta, double z, bool upper) {
  double tail = exp(fmax(-690, ln_diff_tail(pair, delta, upper)));
  double deviate = gsl_cdf_ugaussian_Pinv(fmin(tail, 1));
  return upper ? z - deviate : deviate - z;
}

static mean_pair pair_of(const ev_mean_table *a, const ev_mean_table *b) {
  double mean =
      point_difference(a->least, b->least) + a->width * a->d.mean.x - b->width * b->d.mean.x;
  return (mean_pair){a, b, mean, hypot(table_sd(a), table_sd(b))};
}

/* The difference with the given mass below it, or above it: the secant method in a bracket, which
** every fourth step halves. */
static ev_status diff_quantile(const mean_pair *pair, double mass, bool upper, ev_host host,
                               double *delta) {
  ev_bracket in = {-1, 1};
  double z = gsl_cdf_ugaussian_Pinv(mass), slope = 1 / pair->sd, last = 0, last_gap = 0;
  double at = pair->mean + (upper ? -z : z) * pair->sd;
  if (!(fabs(at) < 1)) at = 0;
  for (int i = 0; i < 200; i++) {
    double gap = deviate_gap(pair, at, z, upper);
    if (isnan(gap)) return EV_NOT_CONVERGED;
    if (ev_interrupted(host)) return EV_INTERRUPTED;
    if (i > 0) slope = (gap - last_gap) / (at - last);
    /* The error after a secant step is about the product of both gaps: 1e-12 sd. */
    bool close = i > 0 && fabs(gap * last_gap) < 1e-12;
    double wish = slope > 0 ? at - gap / slope : NAN;
    last = at, last_gap = gap;
    at = ev_bracket_next(&in, at, gap > 0, i % 4 == 3 ? NAN : wish);
    *delta = close ? fmax(in.low, fmin(in.high, wish)) : last;
    if (close || in.high - in.low <= 4 * DBL_EPSILON * fabs(last)) return EV_OK;
  }
  return EV_NOT_CONVERGED;
}

ev_status ev_table_diff_quantile(const ev_mean_table *a, const ev_mean_table *b, double mass,
                                 bool upper, ev_host host, double *delta) {
  mean_pair pair = pair_of(a, b);
  return diff_quantile(&pair, mass, upper, host, delta);
}

/*
** The models
*/

/* One model's scores, and the posteriors of its mean for the lower and the upper bound of
** it: `upper` is NULL where that is the lower one too. */
typedef struct mean_model {
  ev_atoms scores;
  ev_mean_table *lower, *upper;
} mean_model;

/* Both models, in an order that does not depend on which came first. */
typedef struct diff_problem {
  ev_score_range range;
  mean_model a, b;
  bool exchanged;
  bool alike;
} diff_problem;

static ev_status set_diff_problem(const ev_score_list *a, const ev_score_list *b,
                                  const ev_options *options, diff_problem *problem) {
  *problem = (diff_problem){.range = ev_range_of(options->lo, options->hi)};
  ev_status status = ev_atoms_of_scores(a->scores, a->count, &problem->range, &problem->a.scores);
  if (status == EV_OK)
    status = ev_atoms_of_scores(b->scores, b->count, &problem->range, &problem->b.scores);
  if (status != EV_OK) return status;
  int order = ev_atoms_compare(&problem->a.scores, &problem->b.scores);
  problem->exchanged = order > 0;
  problem->alike = order == 0;
  if (problem->exchanged) {
    mean_model first = problem->a;
    problem->a = problem->b, problem->b = first;
  }
  return EV_OK;
}

/* The mass beyond the tables' ends: a tail of the difference that is no smaller than the
** square root of it is not touched by what is left out.  To 1e-300, for the smallest
** probabilities, tables take five times as many panels. */
static const double SHALLOW_CUT = 1e-40, SHALLOW_TAIL = 1e-20, DEEP_CUT = 1e-300;

static void free_tables(mean_model *model) {
  ev_mean_table_free(model->lower);
  ev_mean_table_free(model->upper);
  model->lower = model->upper = NULL;
}

static ev_status tabulate(const ev_atoms *scores, const ev_atom *imagined, double cut, ev_host host,
                          ev_mean_table **table) {
  ev_atoms with;
  ev_status status = ev_atoms_with(scores, imagined, 2, &with);
  if (status == EV_OK) status = ev_mean_table_make(&with, cut, host, table);
  ev_atoms_free(&with);
  return status;
}

static ev_status tabulate_model(mean_model *model, double cut, ev_host host) {
  double counts[2];
  free_tables(model);
  ev_imagined imagined = ev_imagine_mean(&model->scores, false);
  double size = imagined.lower[0].below;
  if (ev_atoms_at_ends(&model->scores, counts)) {
    ev_atom ends[] = {{0, size, 1}, {size, 0, 1}};
    return tabulate(&model->scores, ends, cut, host, &model->lower);
  }
  ev_status status = tabulate(&model->scores, imagined.lower, cut, host, &model->lower);
  if (status == EV_OK && !ev_imagined_once(&imagined))
    status = tabulate(&model->scores, imagined.upper, cut, host, &model->upper);
  return status;
}

static ev_status tabulate_both(diff_problem *problem, double cut, ev_host host) {
  ev_status status = tabulate_model(&problem->a, cut, host);
  return status == EV_OK ? tabulate_model(&problem->b, cut, host) : status;
}

/* The means that determine the lower bound of the difference, or the upper. */
static mean_pair pair_for(const diff_problem *problem, bool upper) {
  const mean_model *more = upper ? &problem->a : &problem->b;
  const mean_model *less = upper ? &problem->b : &problem->a;
  const ev_mean_table *high = more->upper ? more->upper : more->lower, *low = less->lower;
  return upper ? pair_of(high, low) : pair_of(low, high);
}

static void free_diff_problem(diff_problem *problem) {
  ev_atoms_free(&problem->a.scores);
  ev_atoms_free(&problem->b.scores);
  free_tables(&problem->a);
  free_tables(&problem->b);
}

static ev_status diff_bounds(diff_problem *problem, const ev_options *options, ev_host host,
                             ev_interval *ci) {
  double low, high, mass = ev_tail(options), width = problem->range.hi - problem->range.lo;
  ev_status status = tabulate_both(problem, mass < SHALLOW_TAIL ? DEEP_CUT : SHALLOW_CUT, host);
  if (status != EV_OK) return status;
  mean_pair upper = pair_for(problem, true), lower = pair_for(problem, false);
  status = diff_quantile(&upper, mass, true, host, &high);
  if (status != EV_OK) return status;
  low = -high;
  if (!problem->alike) status = diff_quantile(&lower, mass, false, host, &low);
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

/* P(a - b > delta), of the list that is first in order: by its smaller side, as
** ev_posterior_at() has it. */
static ev_status diff_share_to(diff_problem *problem, double cut, double delta, ev_host host,
                               bool *upper, double *smaller) {
  ev_status status = tabulate_both(problem, cut, host);
  if (status != EV_OK) return status;
  mean_pair pairs[] = {pair_for(problem, false), pair_for(problem, true)};
  for (int i = 0; i < 2; i++) {
    *upper = i == 1;
    *smaller = exp(ln_diff_tail(&pairs[i], delta, *upper));
    if (isnan(*smaller)) return EV_NOT_CONVERGED;
    if (*smaller < 0.5) return EV_OK;
  }
  *smaller = 0.5;
  return EV_OK;
}

static ev_status diff_share(diff_problem *problem, double delta, ev_host host, double *p) {
  bool upper;
  double smaller;
  ev_status status = diff_share_to(problem, SHALLOW_CUT, delta, host, &upper, &smaller);
  if (status == EV_OK && smaller < SHALLOW_TAIL)
    status = diff_share_to(problem, DEEP_CUT, delta, host, &upper, &smaller);
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
