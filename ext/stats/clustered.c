/*
** The Beta-binomial hierarchy of Bowyer et al. 2025, section 3.2:
**
**     theta ~ U(0,1),  d ~ Gamma(1,1),  theta_t ~ Beta(d theta, d (1-theta)),
**     k_t ~ Binomial(n_t, theta_t);
**
** or, by its prior EV_PRIOR_ICC, with the intraclass correlation 1/(1+d) uniform, that
** is, a density of (1+d)^-2.
**
** d is how closely the clusters follow theta:
** Var(theta_t) = theta (1-theta) / (d+1), so a large d means similar clusters
** and a small one means that each cluster is all right or all wrong.
**
** With theta_t integrated out, the likelihood is a product of three functions
** of one variable each, by the rising factorials (x)_k = x (x+1) .. (x+k-1):
**
**     prod (d theta)_k (d (1-theta))_(n-k) / (d)_n  over the clusters.
**
** Their logarithms are tabulated once (rising.c), and from there on the number of
** clusters does not matter.  In the plane of s = logit theta and r = ln d the posterior
** is smooth and falls off at least exponentially.  Both integrals are trapezoid sums, which
** converge exponentially there, and tell how far they have by how far the sum of every
** other point is from them.  On a line of constant s the points ln(d theta) and
** ln(d (1-theta)) are those of r's lattice, shifted: their functions come from tables on
** such a lattice, with interpolation weights that are the same all along the line.
** Quantiles come from the sinc functions through the lines' sums; where these are no
** answer, as when the tail asked for is small beside rounding of the whole, from
** ev_marginal.  The share above a threshold is ev_marginal's too.
*/
#include "clustered.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "atoms.h"
#include "beta.h"
#include "marginal.h"
#include "normal.h"
#include "proportion.h"
#include "rising.h"
#include "sinc.h"

static int clusters_by_counts(const void *a, const void *b) {
  const ev_cluster *x = a, *y = b;
  return ev_compare_counts(x->k, x->n, y->k, y->n);
}

/* A copy in one order, with equal clusters merged, so that sums round alike however the
** clusters came; *count becomes its length.  NULL without memory. */
static ev_cluster *merged_clusters(const ev_cluster *clusters, size_t *count) {
  ev_cluster *merged = malloc(*count * sizeof *merged);
  size_t kept = 0;
  assert(*count > 0);
  if (!merged) return NULL;
  for (size_t i = 0; i < *count; i++) {
    merged[i] = clusters[i];
    assert(merged[i].k >= 0 && merged[i].k <= merged[i].n && merged[i].n >= 1);
    assert(merged[i].times >= 1);
  }
  qsort(merged, *count, sizeof *merged, clusters_by_counts);
  for (size_t i = 1; i < *count; i++)
    if (clusters_by_counts(&merged[kept], &merged[i]) == 0)
      merged[kept].times += merged[i].times;
    else
      merged[++kept] = merged[i];
  *count = kept + 1;
  return merged;
}

/* All questions of all clusters. */
typedef struct pooled_counts {
  double right, all;
} pooled_counts;

static pooled_counts pool_clusters(const ev_cluster *clusters, size_t count) {
  pooled_counts sum = {0, 0};
  for (size_t i = 0; i < count; i++) {
    sum.right += clusters[i].k * clusters[i].times;
    sum.all += clusters[i].n * clusters[i].times;
  }
  return sum;
}

/*
** The posterior
*/

/* Points of the trapezoid rule in r that there is room for. */
enum { HIERARCHY_LATTICE = 768, HIERARCHY_GROUPS = HIERARCHY_LATTICE / EV_LANES };

/* Points of a table in each step of that rule, and how many a value between them is
** interpolated from. */
enum { SHIFT_PHASES = 4, SHIFT_TAPS = 12 };

/* L(e^u) of the right answers or of the wrong ones, by rows of every fourth point of a
** lattice in u.  A line of constant s has the points u = r + ln theta: those of r's lattice,
** shifted. */
typedef struct shift_table {
  double origin; /* of u, in the middle */
  int from, to;  /* the columns that are filled */
  double at[SHIFT_PHASES][HIERARCHY_LATTICE];
} shift_table;

/* Where a line's points lie in a table: Lagrange's polynomial through the points next to
** one has the same weights all along the line. */
typedef struct shift {
  int column;                      /* of the first tap of the rule's first point */
  const double *row[SHIFT_PHASES]; /* of the first taps, from that column on */
  ev_lanes_kept weight[SHIFT_TAPS / SHIFT_PHASES];
} shift;

/* How far below its peak the sum along a line goes: e^-21 is 8e-10 of it.  Was 22; the
** bounds moved by less than 1e-9. */
static const double LINE_LN_DROP = 21;

/* A tail along a line is taken as a geometric series, so far above where it would end
** otherwise, if its logarithm bends by less than that in a group and falls by more than that
** in a step: its sum is then known to 4e-10 of the line's. */
static const double TAIL_LN_REST = 7, TAIL_BEND = 5e-5, TAIL_SLOPE = 0.1;

/* How far below what matters of the posterior of s its terms are left out: where a line is
** low it is also shorter. */
static const double LINE_MARGIN = 2;

/* What the sum along a line that matters may be wrong by, as a share: a bound then moves by
** less than half as much of its standard deviation. */
static const double LINE_ERROR = 1e-8;

/* What the share of the mass beyond a bound may be wrong by, as a share of itself, and what
** the steps of the lattice in s are chosen for.  Both were 3e-9; of 6,000 random calls none
** is off by more than 6e-10. */
static const double TAIL_ERROR = 2e-8, LATTICE_ERROR = 1e-8;

/* Of a smaller tail sinc functions leave less than that: each has 1e-17 of the whole. */
static const double SINC_LEAST_TAIL = 1e-7;

/* Lines either way of the lattice in s that there is room for. */
enum { HIERARCHY_LINES = 256 };

/* A point x of the lattice is at
**
**     s = origin + x/2 + stretch up (e^(x/stretch) - 1) - stretch down (e^(-x/stretch) - 1)
**
** with up + down = 1/2, so that distances grow where a tail is exponential, and only there. */
typedef struct s_lattice {
  double origin, step, stretch, up, down;
  int below, above;                  /* lines on either side of the origin */
  int peak[2 * HIERARCHY_LINES + 1]; /* the group where a line has its own */
  double ln[2 * HIERARCHY_LINES + 1], density[2 * HIERARCHY_LINES + 1],
      room[2 * HIERARCHY_LINES + 1];
} s_lattice;

typedef struct hierarchy {
  ev_rising right, wrong, all;
  double mixed; /* clusters with both right and wrong answers */
  ev_prior prior;
  double threshold;             /* of s, where that is asked about */
  double origin, step;          /* of the lattice in r */
  int peak;                     /* the group where the last line had its peak */
  bool ready[HIERARCHY_GROUPS]; /* whether r_part is, of a group of points */
  ev_lanes_kept r_part[HIERARCHY_GROUPS];
  ev_lanes_kept line[HIERARCHY_GROUPS]; /* what is summed along the last line */
  shift_table right_table, wrong_table;
  shift right_shift, wrong_shift; /* of the last line */
  double ln_point_most;           /* the largest posterior that was met at a point */
  double ln_rest;                 /* TAIL_LN_REST, or 0 */
  bool relative;                  /* lines that do not matter are wanted to as many digits */
  double tail;                    /* the least share that is asked about */
  double ln_most;                 /* the largest density of s that was met */
  double error;                   /* the most that the sum along a line that matters is wrong by */
  double rounding;                /* of the logarithm */
  double ln_drop;                 /* how far below its peak the posterior of s is negligible */
  s_lattice lines;
  ev_host host;
  bool many;        /* so many different counts that the host is asked */
  bool interrupted; /* it has had enough: only finish */
  bool lost;        /* a climb to the peak did not end */
} hierarchy;

static bool hierarchy_interrupted(hierarchy *h) {
  if (!h->interrupted && h->many) h->interrupted = ev_interrupted(h->host);
  return h->interrupted;
}

/* ln theta and ln(1 - theta) at s = logit theta. */
static ev_point ln_theta(double s) {
  double ln = log1p(exp(-fabs(s)));
  return s > 0 ? (ev_point){-ln, -s - ln} : (ev_point){s - ln, -ln};
}

/* What depends on s alone, and on both. */
static double ln_s_part(const hierarchy *h, ev_point ln) {
  return (h->right.clusters + 1) * ln.x + (h->wrong.clusters + 1) * ln.y;
}

/* ln of the posterior at four points, as digits go that only a peak is sought by. */
EV_WIDE static void ln_posterior(hierarchy *h, const ev_lanes *s, const ev_lanes *r,
                                 ev_lanes *out) {
  ev_lanes d = *r, e = -*s, sum = {0}, all = {0}, ln_prior;
  ev_exp(&d, 1);
  ev_exp(&e, 1);
  ev_lanes x = 1 / (1 + e), y = e / (1 + e), a = d * x, b = d * y, ln_x = x, ln_y = y;
  ev_log(&ln_x, 1);
  ev_log(&ln_y, 1);
  ln_prior = 1 + d;
  ev_log(&ln_prior, 1);
  ln_prior = h->prior == EV_PRIOR_ICC ? -2 * ln_prior : -d;
  ev_rising_add(&h->all, &d, &all);
  ev_rising_add(&h->right, &a, &sum);
  ev_rising_add(&h->wrong, &b, &sum);
  *out = (h->mixed + 1) * *r + ln_prior - all + (h->right.clusters + 1) * ln_x +
         (h->wrong.clusters + 1) * ln_y + sum;
}

/* What depends on r = ln d alone: (d)_n, prior, change of variable.  The prior e^-d leaves
** nothing long before r = 45, and (1+d)^-2 leaves e^-45, which is below what a level of
** 1 - 1e-15 asks about. */
EV_WIDE static void prepare_group(hierarchy *h, int group) {
  double from = group * EV_LANES - HIERARCHY_LATTICE / 2;
  ev_lanes r = h->origin + h->step * (from + (ev_lanes){0, 1, 2, 3}), d = r, ln_all = {0};
  ev_exp(&d, 1);
  ev_lanes ln_prior = d;
  if (h->prior == EV_PRIOR_ICC) {
    ev_log1p(&ln_prior, 1);
    ln_prior *= 2;
  }
  ev_rising_add(&h->all, &d, &ln_all);
  h->r_part[group] = (h->mixed + 1) * r - ln_prior - ln_all;
  for (int i = 0; i < EV_LANES; i++)
    if (r[i] < -60 || r[i] > 45) h->r_part[group][i] = -1e300;
  h->ready[group] = true;
}

/* Fills EV_LANES columns of a table. */
EV_WIDE static void fill_columns(hierarchy *h, shift_table *t, ev_rising *rising, int from) {
  double step = h->step / SHIFT_PHASES;
  for (int column = from; column < from + EV_LANES; column++) {
    double first = SHIFT_PHASES * (column - HIERARCHY_LATTICE / 2);
    ev_lanes x = t->origin + step * (first + (ev_lanes){0, 1, 2, 3}), sum = {0};
    ev_exp(&x, 1);
    ev_rising_add(rising, &x, &sum);
    for (int phase = 0; phase < SHIFT_PHASES; phase++) t->at[phase][column] = sum[phase];
  }
}

/* Fills a table as far as a group of the line wants it; false where there is no room. */
static bool extend_table(hierarchy *h, shift_table *t, ev_rising *rising, int from) {
  int to = from + EV_LANES + SHIFT_TAPS / SHIFT_PHASES;
  if (from < 0 || to > HIERARCHY_LATTICE) return false;
  while (t->from > from) fill_columns(h, t, rising, t->from -= EV_LANES);
  for (; t->to < to; t->to += EV_LANES) fill_columns(h, t, rising, t->to);
  return true;
}

/* The weights of points at whole numbers from -5 to 6, of the value at x from 0 to 1 of the
** polynomial through them. */
EV_INLINE void lagrange_weights(double x, ev_lanes_kept *weight) {
  static const ev_lanes scale[] = {
      {-1.0 / 39916800, 1.0 / 3628800, -1.0 / 725760, 1.0 / 241920},
      {-1.0 / 120960, 1.0 / 86400, -1.0 / 86400, 1.0 / 120960},
      {-1.0 / 241920, 1.0 / 725760, -1.0 / 3628800, 1.0 / 39916800},
  };
  /* At a point itself the quotient would be 0/0; next to it, it is as good. */
  if (x == 0) x = 1e-300;
  ev_lanes low = x - (ev_lanes){-5, -4, -3, -2}, mid = x - (ev_lanes){-1, 0, 1, 2},
           high = x - (ev_lanes){3, 4, 5, 6}, product = low * mid * high;
  double all = (product[0] * product[1]) * (product[2] * product[3]);
  weight[0] = scale[0] * (all / low);
  weight[1] = scale[1] * (all / mid);
  weight[2] = scale[2] * (all / high);
}

/* Where a line is whose points are at u = r + away. */
EV_INLINE void set_shift(const hierarchy *h, const shift_table *t, double away, shift *out) {
  double steps = (h->origin + away - t->origin) * (SHIFT_PHASES / h->step);
  const int room = SHIFT_PHASES * HIERARCHY_LATTICE;
  steps = steps > room ? room : steps < -room ? -room : steps;
  double whole = floor(steps);
  int first = (int)whole - 5 + 2 * room; /* not negative, so that it is divided downwards */
  out->column = first / SHIFT_PHASES - 2 * HIERARCHY_LATTICE;
  lagrange_weights(steps - whole, out->weight);
  for (int i = 0; i < SHIFT_PHASES; i++) {
    int at = first % SHIFT_PHASES + i;
    out->row[i] = t->at[at % SHIFT_PHASES] + at / SHIFT_PHASES;
  }
}

EV_INLINE void add_shifted(const shift *f, int column, ev_lanes *sum) {
  ev_lanes parts[SHIFT_PHASES];
#pragma GCC unroll 4
  for (int i = 0; i < SHIFT_PHASES; i++) {
    const double *at = f->row[i] + column;
    parts[i] = f->weight[0][i] * *(const ev_lanes_of *)at +
               f->weight[1][i] * *(const ev_lanes_of *)(at + 1) +
               f->weight[2][i] * *(const ev_lanes_of *)(at + 2);
  }
  *sum += (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

/* Adds L of the right or the wrong answers to a group of the line. */
EV_INLINE void add_from_table(hierarchy *h, shift_table *t, const shift *f, ev_rising *rising,
                              int group, ev_lanes *sum) {
  if (rising->factors == 0) return;
  int column = group * EV_LANES + f->column;
  if ((column < t->from || column + EV_LANES + SHIFT_TAPS / SHIFT_PHASES > t->to) &&
      !extend_table(h, t, rising, column)) {
    *sum -= 1e300;
    h->error = 1;
    return;
  }
  add_shifted(f, column, sum);
}

/* Fills a group of the line, and returns its largest term. */
EV_INLINE double line_group(hierarchy *h, int group) {
  if (!h->ready[group]) prepare_group(h, group);
  ev_lanes sum = h->r_part[group];
  add_from_table(h, &h->right_table, &h->right_shift, &h->right, group, &sum);
  add_from_table(h, &h->wrong_table, &h->wrong_shift, &h->wrong, group, &sum);
  h->line[group] = sum;
  double low = sum[0] > sum[1] ? sum[0] : sum[1], high = sum[2] > sum[3] ? sum[2] : sum[3];
  return low > high ? low : high;
}

/* With 10^12 questions and more in a cluster rounding is what is left of a line's error. */
static double most_line_error(const hierarchy *h) {
  return fmax(LINE_ERROR, h->rounding);
}

/* About the relative error of a trapezoid sum, from the sums of its points by fours: twice
** the steps and four times show how fast it converges.  It at least squares the error that
** twice the steps have, and for a normal takes its fourth power. */
EV_INLINE double trapezoid_error(const ev_lanes *sum, double total) {
  ev_lanes by_four = *sum * (4 / total) - 1;
  double by_two = fabs(by_four[0] + by_four[2]) / 2, coarsest = 0;
  if (by_two * by_two < LINE_ERROR) return 0;
  for (int i = 0; i < EV_LANES; i++) coarsest = fmax(coarsest, fabs(by_four[i]));
  double order = coarsest < 1 ? log(by_two) / log(coarsest) : 2;
  return pow(by_two, fmax(2, fmin(3.5, order)));
}

/* A line as far as it is filled. */
typedef struct line_range {
  int first, last, peak; /* groups */
  double best;           /* the largest term */
  double least, floor;   /* where it may end: below `least`, which is at least `floor` */
  double below, above;   /* what its ends stand for, as multiples of their groups */
} line_range;

/* Whether a group's terms, from which a line goes on up (1) or down (-1), are those of a
** geometric series, whose sum is so many times theirs. */
EV_INLINE bool is_geometric(const ev_lanes *group, int by, double *times) {
  double low = (*group)[1] - (*group)[0], high = (*group)[3] - (*group)[2];
  double slope = by * ((*group)[3] - (*group)[0]) / 3;
  if (!(fabs(high - low) < TAIL_BEND && slope < -TAIL_SLOPE)) return false;
  *times = 1 / (1 - exp(EV_LANES * slope));
  return true;
}

/* Goes on with a line, up (1) or down (-1), until its terms are small and fall; false when
** there is no room. */
EV_INLINE bool follow_line(hierarchy *h, line_range *line, double most, int by) {
  int *end = by > 0 ? &line->last : &line->first;
  while (by > 0 ? *end + 1 < HIERARCHY_GROUPS : *end > 0) {
    double before = most;
    most = line_group(h, *end += by);
    if (most > line->best) {
      line->peak = *end;
      line->best = most;
      line->least = most - LINE_LN_DROP > line->floor ? most - LINE_LN_DROP : line->floor;
    }
    if (most <= line->least && most <= before) return true;
    ev_lanes group = h->line[*end];
    if (most <= line->least + h->ln_rest && most <= before &&
        is_geometric(&group, by, by > 0 ? &line->above : &line->below))
      return true;
  }
  return false;
}

/* ln of the posterior of s, by a sum along r from where the last line peaked. */
EV_WIDE static double ln_s_density(double s, void *context) {
  hierarchy *h = context;
  ev_point ln_s = ln_theta(s);
  double s_part = ln_s_part(h, ln_s);
  if (h->right.factors > 0) set_shift(h, &h->right_table, ln_s.x, &h->right_shift);
  if (h->wrong.factors > 0) set_shift(h, &h->wrong_table, ln_s.y, &h->wrong_shift);
  double start = line_group(h, h->peak);
  double floor = h->relative ? -HUGE_VAL : h->ln_point_most - s_part - h->ln_drop - LINE_MARGIN;
  line_range line = {h->peak, h->peak, h->peak, start, fmax(start - LINE_LN_DROP, floor),
                     floor,   1,       1};
  bool fell = follow_line(h, &line, start, 1);
  fell = follow_line(h, &line, start, -1) && fell;
  ev_lanes sum = {0};
  for (int i = line.first; i <= line.last; i++) {
    ev_lanes term = h->line[i] - line.best;
    ev_exp(&term, 1);
    sum += term * (i == line.first ? line.below : i == line.last ? line.above : 1);
  }
  h->peak = line.peak;
  h->ln_point_most = fmax(h->ln_point_most, s_part + line.best);
  double total = ev_sum(&sum), ln = s_part + line.best + log(total);
  h->ln_most = fmax(h->ln_most, ln);
  double error = fell ? trapezoid_error(&sum, total) : 1;
  if (error > most_line_error(h))
    h->error = fmax(h->error, error * fmin(1, exp(ln - h->ln_most) / h->tail));
  return ln;
}

/*
** Where the posterior is, and on what scale
*/
typedef struct posterior_scale {
  double peak, sd;
} posterior_scale;

/* Steps of one climb, which is up to 40 long. */
enum { CLIMB_STEPS = 1000 };

/* Along s at fixed r, or along r at fixed s: climbs step by step, then narrows them
** until a parabola fits. */
static posterior_scale scale_along(hierarchy *h, double s, double r, bool along_s, double step) {
  double x = 0;
  for (int i = 0; i < CLIMB_STEPS && !hierarchy_interrupted(h); i++) {
    ev_lanes at[] = {{s, s, s, s}, {r, r, r, r}}, ln;
    at[!along_s] += (ev_lanes){x - 2 * step, x - step, x, x + step};
    ln_posterior(h, &at[0], &at[1], &ln);
    double low = ln[1], mid = ln[2], high = ln[3];
    if (fmax(fmax(ln[0], low), high) > mid && fabs(x) < 40) {
      x += high > mid ? step : low > ln[0] ? -step : -2 * step;
    } else {
      double bend = 2 * mid - low - high;
      if (mid - fmin(low, high) < 3 || step < 1e-9)
        return (posterior_scale){(along_s ? s : r) + x,
                                 step / sqrt(fmax(bend, 0.05 * step * step))};
      x += fmax(-0.5, fmin(0.5, (high - low) / 2 / bend)) * step;
      step /= 3;
    }
  }
  h->lost = true;
  return (posterior_scale){s, 1};
}

/* The peak, and the scale along each axis through it.  The pooled mean, where it begins,
** can be far off when clusters are unequal: it climbs in turn until neither peak moves by
** more than its width.  A peak that still moves after CLIMB_TURNS only places the lattice
** worse: whether well enough is seen from the sums' errors. */
enum { CLIMB_TURNS = 20 };

static void find_peak(hierarchy *h, pooled_counts pooled, posterior_scale *s, posterior_scale *r) {
  double s0 = log((pooled.right + 1) / (pooled.all - pooled.right + 1));
  *r = scale_along(h, s0, 0, false, 1.5);
  *s = scale_along(h, s0, r->peak, true, 0.5);
  for (int i = 0; i < CLIMB_TURNS; i++) {
    posterior_scale r_before = *r, s_before = *s;
    *r = scale_along(h, s->peak, r->peak, false, r->sd);
    *s = scale_along(h, s->peak, r->peak, true, s->sd);
    if (fabs(r->peak - r_before.peak) < r->sd && fabs(s->peak - s_before.peak) < s->sd) break;
  }
}

static void set_table(shift_table *t, double origin) {
  t->origin = origin;
  t->from = t->to = HIERARCHY_LATTICE / 2;
}

/* The sum along r converges as exp(-pi^2 / step) for what is analytic to within pi/2 of
** the axis, and as exp(-2 pi^2 (sd/step)^2) for a normal; where it is steep, toward small d,
** it has a smaller scale.  Where that is too coarse, it is `refined`: of 6,000 random calls
** none had to be. */
static void set_lattice(hierarchy *h, posterior_scale s, posterior_scale r, double refined) {
  ev_lanes at_s = {s.peak, s.peak, s.peak, s.peak}, ln;
  ev_lanes at_r = r.peak + r.sd * (ev_lanes){-4, -2, 0, 2};
  ln_posterior(h, &at_s, &at_r, &ln);
  double most = h->prior == EV_PRIOR_ICC && h->mixed > 1 ? 0.34 : 0.4;
  h->step = fmin(most * pow(6 / fmax(6, ln[2] - ln[0]), 0.25), 0.6 * r.sd) / refined;
  h->origin = r.peak;
  h->peak = HIERARCHY_GROUPS / 2;
  for (int i = 0; i < HIERARCHY_GROUPS; i++) h->ready[i] = false;
  ev_point ln_s = ln_theta(s.peak);
  set_table(&h->right_table, r.peak + ln_s.x);
  set_table(&h->wrong_table, r.peak + ln_s.y);
  h->ln_most = h->ln_point_most = -HUGE_VAL;
  h->error = 0;
}

/* s at a point x of its lattice. */
static double lattice_s(const s_lattice *l, double x) {
  double e = exp(x / l->stretch);
  return l->origin + x / 2 + l->stretch * (l->up * (e - 1) - l->down * (1 / e - 1));
}

/* ln of the density of x, at a multiple of the step. */
static void lay_line(hierarchy *h, int j) {
  s_lattice *l = &h->lines;
  double x = j * l->step, e = exp(x / l->stretch);
  double ln = ln_s_density(lattice_s(l, x), h) + log(0.5 + l->up * e + l->down / e);
  l->ln[HIERARCHY_LINES + j] = ln;
  l->peak[HIERARCHY_LINES + j] = h->peak;
}

/* The peak of the posterior of s and its scale there, by a parabola through three points
** a step apart, from a first guess at both.  A peak that is not found only places the
** lattice worse. */
static posterior_scale scale_of_s(hierarchy *h, posterior_scale s) {
  double step = s.sd, mid = ln_s_density(s.peak, h);
  for (int i = 0; i < CLIMB_STEPS && !hierarchy_interrupted(h); i++) {
    double low = ln_s_density(s.peak - step, h), high = ln_s_density(s.peak + step, h);
    if (fmax(low, high) > mid) {
      s.peak += high > low ? step : -step;
      mid = fmax(low, high);
      continue;
    }
    double bend = fmax(2 * mid - low - high, 0.05 * step * step);
    s.peak += (high - low) / 2 / bend * step;
    s.sd = step / sqrt(bend);
    mid = ln_s_density(s.peak, h);
    if (2 * mid - low - high < 6) break;
    step /= 3;
  }
  return s;
}

/* How the posterior of s falls off, and on what scale. */
typedef struct s_shape {
  posterior_scale scale;
  double low, high; /* how far it is below its peak at 4 sd either way */
} s_shape;

static s_shape shape_of_s(hierarchy *h, posterior_scale s) {
  s = scale_of_s(h, s);
  double mid = ln_s_density(s.peak, h), away = 4 * s.sd;
  return (s_shape){s, mid - ln_s_density(s.peak - away, h), mid - ln_s_density(s.peak + away, h)};
}

/* Whether it bends more sharply within 2 widths of a place than within 4. */
static bool bends_sharply(hierarchy *h, double at, double width) {
  double mid = ln_s_density(at, h), bend[2];
  for (int i = 0; i < 2; i++) {
    double away = (2 + 2 * i) * width;
    bend[i] = 2 * mid - ln_s_density(at - away, h) - ln_s_density(at + away, h);
  }
  return bend[0] > 0 && 4 * bend[0] > 1.2 * bend[1];
}

/* Where the lattice in s begins, how long its steps are and how they grow.  A normal falls
** by 8 in 4 sd.  Where a side is steeper, the steps grow less that way, and more the other
** way.  The constants are such that of 6,000 random calls 650 needed half the step. */
static void set_lines(hierarchy *h, posterior_scale s) {
  s_lattice *l = &h->lines;
  s_shape shape = shape_of_s(h, s);
  double sd = shape.scale.sd, gentle = fmin(shape.low, shape.high);
  double steep = fmax(8, fmax(shape.low, shape.high)), share = 16 / (steep * steep);
  double normal = fmax(0, fmin(1, (gentle - 5.5) / 2)) * fmax(0, fmin(1, (16 - steep) / 8));
  l->origin = shape.scale.peak;
  l->stretch = (2 + normal) * sd;
  l->step = (0.25 * sqrt(fmin(1, 50 / steep)) + 0.15 * normal) * sd;
  /* Clusters that may be alike give a peak, or a bend, as wide as without clusters. */
  double right = h->right.answers + 1, wrong = h->wrong.answers + 1;
  double pooled = log(right / wrong), width = sqrt(1 / right + 1 / wrong);
  if (h->prior == EV_PRIOR_ICC && width < sd && bends_sharply(h, pooled, width)) {
    l->origin = pooled;
    l->stretch = 2.5 * width;
    l->step = 0.14 * l->stretch * fmin(1, 1.5 * sd / fabs(pooled - shape.scale.peak));
    share = 0.25;
  }
  l->up = shape.high > shape.low ? share : 0.5 - share;
  l->down = 0.5 - l->up;
  l->step =
      fmin(0.28, l->step) * log(3 / (LATTICE_ERROR * 0.025)) / log(3 / (LATTICE_ERROR * h->tail));
}

/* The lines one way from the middle, until nothing is left; returns how many, or -1. */
static int add_lines(hierarchy *h, int side, double *ln_most) {
  double *ln = h->lines.ln + HIERARCHY_LINES;
  for (int j = 1; j <= HIERARCHY_LINES && !hierarchy_interrupted(h); j++) {
    lay_line(h, side * j);
    *ln_most = fmax(*ln_most, ln[side * j]);
    if (ln[side * j] < *ln_most - h->ln_drop) return j;
  }
  return -1;
}

/* Puts a line between any two. */
static bool refine_lines(hierarchy *h) {
  s_lattice *l = &h->lines;
  double *ln = l->ln + HIERARCHY_LINES;
  int *peak = l->peak + HIERARCHY_LINES;
  if (2 * l->below > HIERARCHY_LINES || 2 * l->above > HIERARCHY_LINES) return false;
  for (int j = l->below; j > 0; j--) ln[-2 * j] = ln[-j], peak[-2 * j] = peak[-j];
  for (int j = l->above; j > 0; j--) ln[2 * j] = ln[j], peak[2 * j] = peak[j];
  l->below *= 2;
  l->above *= 2;
  l->step /= 2;
  for (int j = -l->below + 1; j < l->above && !hierarchy_interrupted(h); j += 2) {
    h->peak = peak[j - 1];
    lay_line(h, j);
  }
  return true;
}

/* Densities relative to the largest; returns their sum, and how far from it twice that of
** every other is, as a share. */
static double sum_lines(s_lattice *l, double ln_most, double *uneven) {
  double sums[2] = {0, 0};
  int count = l->below + l->above + 1;
  const double *ln = l->ln + HIERARCHY_LINES - l->below;
  for (int j = 0; j < count; j++) {
    l->density[j] = exp(ln[j] - ln_most);
    sums[j % 2] += l->density[j];
  }
  *uneven = fabs(sums[0] - sums[1]) / (sums[0] + sums[1]);
  return sums[0] + sums[1];
}

/* The interval by lattices in both; EV_NOT_CONVERGED where room for them runs out, or where
** the one in r is too coarse for the lines that were looked at first. */
static ev_status lattice_interval(hierarchy *h, posterior_scale s, double *bounds) {
  s_lattice *l = &h->lines;
  double ln_most, uneven, x, y;
  set_lines(h, s);
  if (h->error > most_line_error(h)) return EV_NOT_CONVERGED;
  lay_line(h, 0);
  ln_most = l->ln[HIERARCHY_LINES];
  l->above = add_lines(h, 1, &ln_most);
  h->peak = l->peak[HIERARCHY_LINES];
  l->below = add_lines(h, -1, &ln_most);
  if (l->above < 0 || l->below < 0) return EV_NOT_CONVERGED;
  double sum = sum_lines(l, ln_most, &uneven);
  while (!(uneven < fmax(TAIL_ERROR * h->tail, h->rounding))) {
    if (h->interrupted || !refine_lines(h)) return EV_NOT_CONVERGED;
    sum = sum_lines(l, ln_most, &uneven);
  }
  int count = l->below + l->above + 1;
  if (!ev_sinc_quantile(l->density, count, h->tail * sum, l->room, &x)) return EV_NOT_CONVERGED;
  for (int i = 0, j = count - 1; i < j; i++, j--) {
    double swapped = l->density[i];
    l->density[i] = l->density[j];
    l->density[j] = swapped;
  }
  if (!ev_sinc_quantile(l->density, count, h->tail * sum, l->room, &y)) return EV_NOT_CONVERGED;
  bounds[0] = ev_at_logit(lattice_s(l, (x - l->below) * l->step)).x;
  bounds[1] = ev_at_logit(lattice_s(l, (l->above - y) * l->step)).x;
  return EV_OK;
}

/* The posterior of s by panels; 1e-9 of the density is a tenth of what is promised; some 60
** lines are the rule, 400 were the most seen. */
static ev_status find_panels(hierarchy *h, posterior_scale s, ev_marginal *m) {
  ev_search search = {.ln_density = ln_s_density,
                      .context = h,
                      .start = s.peak,
                      .width = fmin(2, 4 * s.sd),
                      .ln_drop = h->ln_drop,
                      .tolerance = 1e-9,
                      .tail = h->tail,
                      .budget = 4800};
  h->relative = true;
  h->ln_rest = 0;
  return ev_marginal_find(m, &search);
}

static ev_status panels_interval(hierarchy *h, posterior_scale s, double *bounds) {
  ev_marginal m;
  ev_interval logit;
  ev_status status = find_panels(h, s, &m);
  if (status == EV_OK) status = ev_marginal_interval(&m, h->tail, &logit);
  if (status != EV_OK) return status;
  bounds[0] = ev_at_logit(logit.lo).x;
  bounds[1] = ev_at_logit(logit.hi).x;
  return EV_OK;
}

/* Sinc functions, or panels where those are no answer. */
static ev_status interval_of_theta(hierarchy *h, posterior_scale s, double *bounds) {
  ev_status status = EV_NOT_CONVERGED;
  h->relative = false;
  h->ln_rest = TAIL_LN_REST;
  if (h->tail >= SINC_LEAST_TAIL) status = lattice_interval(h, s, bounds);
  if (status == EV_NOT_CONVERGED && h->error <= most_line_error(h))
    status = panels_interval(h, s, bounds);
  return status;
}

/* The smaller share is summed, and the larger is what it leaves. */
static ev_status share_above_threshold(hierarchy *h, posterior_scale s, double *p) {
  ev_marginal m;
  ev_status status = find_panels(h, s, &m);
  if (status != EV_OK) return status;
  double above = ev_marginal_beyond(&m, h->threshold, true);
  *p = above <= 0.5 ? above : 1 - ev_marginal_beyond(&m, h->threshold, false);
  return EV_OK;
}

/* What is asked of the posterior of s, and the least share of it that matters there. */
typedef struct hierarchy_question {
  ev_status (*answer)(hierarchy *h, posterior_scale s, double *answer);
  double tail;
} hierarchy_question;

/* On a finer lattice in r as long as a line that matters wants it. */
static ev_status ask_posterior(hierarchy *h, pooled_counts pooled, const hierarchy_question *q,
                               double *answer) {
  posterior_scale s, r;
  h->ln_drop = 20 - log(h->tail);
  h->rounding = 0;
  find_peak(h, pooled, &s, &r);
  if (h->interrupted) return EV_INTERRUPTED;
  if (h->lost) return EV_NOT_CONVERGED;
  h->rounding = DBL_EPSILON * (h->mixed * fabs(r.peak) + ev_rising_at(&h->all, exp(r.peak)));
  if (h->rounding > 1e-3) return EV_TOO_LARGE;
  for (double refined = 1; refined <= 8; refined *= 1.5) {
    set_lattice(h, s, r, refined);
    ev_status status = q->answer(h, s, answer);
    if (h->interrupted) return EV_INTERRUPTED;
    if (h->error <= most_line_error(h)) return status;
  }
  return EV_NOT_CONVERGED;
}

/* Into three lists of counts, for which `counts` has room. */
static void tally_clusters(hierarchy *h, const ev_cluster *clusters, size_t count,
                           ev_tally *counts) {
  for (size_t i = 0; i < count; i++) counts[i] = (ev_tally){clusters[i].k, clusters[i].times};
  ev_rising_make(&h->right, counts, count);
  for (size_t i = 0; i < count; i++)
    counts[i] = (ev_tally){clusters[i].n - clusters[i].k, clusters[i].times};
  ev_rising_make(&h->wrong, counts, count);
  for (size_t i = 0; i < count; i++) counts[i] = (ev_tally){clusters[i].n, clusters[i].times};
  ev_rising_make(&h->all, counts, count);
  h->mixed = h->right.clusters + h->wrong.clusters - h->all.clusters;
}

/* One question per cluster: d is not in the likelihood. */
static bool are_independent(const ev_cluster *clusters, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (clusters[i].n > 1) return false;
  return true;
}

static ev_status ask_hierarchy(const ev_cluster *clusters, size_t count, const ev_options *options,
                               ev_host host, const hierarchy_question *q, double *answer) {
  hierarchy *h = malloc(sizeof *h);
  ev_tally *counts = malloc(count * sizeof *counts);
  ev_status status = EV_NO_MEMORY;
  if (h && counts) {
    h->host = host;
    h->many = count > 1000;
    h->lost = h->interrupted = false;
    h->prior = options->prior;
    h->threshold = log(options->threshold) - log1p(-options->threshold);
    h->tail = q->tail;
    tally_clusters(h, clusters, count, counts);
    status = ask_posterior(h, (pooled_counts){h->right.answers, h->all.answers}, q, answer);
  }
  free(counts);
  free(h);
  return status;
}

ev_status ev_clustered(const ev_cluster *clusters, size_t count, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  assert(options->level > 0 && options->level < 1 && count > 0);
  if (are_independent(clusters, count)) {
    pooled_counts pooled = pool_clusters(clusters, count);
    ev_options uniform = {.level = options->level, .a = 1, .b = 1};
    return ev_bayes((double[]){pooled.right, pooled.all}, &uniform, ci);
  }
  hierarchy_question question = {interval_of_theta, ev_tail(options)};
  double bounds[2];
  ev_status status = ask_hierarchy(clusters, count, options, host, &question, bounds);
  if (status == EV_OK) *ci = (ev_interval){bounds[0], bounds[1]};
  return status;
}

/* A share is promised to 1e-8; this leaves 1e-8 of a share of 1e-6. */
static const double LEAST_SHARE = 1e-6;

ev_status ev_clustered_prob_above(const ev_cluster *clusters, size_t count,
                                  const ev_options *options, ev_host host, double *p) {
  double t = options->threshold;
  assert(t >= 0 && t <= 1 && count > 0);
  if (t == 0 || t == 1 || are_independent(clusters, count)) {
    pooled_counts pooled = pool_clusters(clusters, count);
    ev_options uniform = {.level = 0.95, .a = 1, .b = 1, .threshold = t};
    return ev_prob_above((double[]){pooled.right, pooled.all}, &uniform, p);
  }
  hierarchy_question question = {share_above_threshold, LEAST_SHARE};
  return ask_hierarchy(clusters, count, options, host, &question, p);
}

/* k_t - n_t ybar comes from integers, so that clusters of one rate leave exactly
** nothing. */
ev_status ev_clustered_clt(const ev_cluster *clusters, size_t count, const ev_options *options,
                           ev_host host, ev_interval *ci) {
  (void)host;
  assert(options->level > 0 && options->level < 1);
  ev_cluster *merged = merged_clusters(clusters, &count);
  if (!merged) return EV_NO_MEMORY;
  pooled_counts sum = pool_clusters(merged, count);
  double square = 0;
  for (size_t i = 0; i < count; i++) {
    double excess = ev_cross_difference(merged[i].k, sum.all, merged[i].n, sum.right) / sum.all;
    square += merged[i].times * gsl_pow_2(excess);
  }
  free(merged);
  *ci = ev_plus_minus(sum.right / sum.all, ev_deviate(options) * sqrt(square) / sum.all);
  return ev_interval_status(*ci);
}
