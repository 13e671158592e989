/*
** The Beta-binomial hierarchy of Bowyer et al. 2025, section 3.2:
**
**     theta ~ U(0,1),  d ~ Gamma(1,1),  theta_t ~ Beta(d theta, d (1-theta)),
**     k_t ~ Binomial(n_t, theta_t);
**
** or, by its prior EV_PRIOR_ICC, with the intraclass correlation 1/(1+d) uniform, that
** is, a density of (1+d)^-2.
**
** d is the strength of the tie between clusters and theta:
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
** is smooth and falls off at least exponentially.  The inner integral over r is
** a plain trapezoid sum, which converges exponentially there; the outer one
** over s is ev_marginal's.
*/
#include "clustered.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "beta.h"
#include "marginal.h"
#include "normal.h"
#include "rising.h"

static int clusters_by_counts(const void *a, const void *b) {
  const ev_cluster *x = a, *y = b;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return (x->k > y->k) - (x->k < y->k);
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
enum { HIERARCHY_LATTICE = 1024 };

/* How far below its peak the sum along a line goes: e^-21 is 8e-10 of it.  Was 22; the
** bounds moved by less than 1e-9. */
static const double LINE_LN_DROP = 21;

/* The share of a line, or of the tail, that the lattice's end may cut off.  It is as much
** of a bound's standard deviation, which is at most a few tenths: 1e-8 is promised. */
static const double LINE_TRUNCATION = 1e-7;

typedef struct hierarchy {
  ev_rising right, wrong, all;
  double mixed; /* clusters with both right and wrong answers */
  ev_prior prior;
  bool tabled;
  ev_rising_table ln_right, ln_wrong, ln_all;
  double ln_drop;      /* how far below its peak the posterior is negligible */
  double origin, step; /* of the lattice in r */
  int least, most;     /* its last points within the tables */
  int peak;            /* where the last line had its peak */
  double d[HIERARCHY_LATTICE], r_part[HIERARCHY_LATTICE]; /* of each point; d is 0 until then */
  double ln_truncated; /* the most that a line lost at the lattice's ends */
  ev_host host;
  bool interrupted; /* the host has had enough: only finish */
  bool lost;        /* a climb to the peak did not end */
} hierarchy;

/* Whether the host wants to stop.  Only a sum over many different counts is long enough
** to ask, and everything else follows from such sums. */
static bool hierarchy_interrupted(hierarchy *h) {
  if (!h->interrupted && h->all.size > 1000)
    h->interrupted = h->host.interrupted && h->host.interrupted(h->host.context);
  return h->interrupted;
}

static void hierarchy_tabulate(hierarchy *h, const ev_rising *t, double from, double to,
                               ev_rising_table *out) {
  ev_rising_lay_out(out, t, from, to);
  for (int i = 0; i < out->cells && t->size && !hierarchy_interrupted(h); i++)
    ev_rising_fill(out, t, i);
}

/* What depends on r = ln d alone: prior, change of variable, (d)_n. */
static double ln_r_part(const hierarchy *h, double r) {
  double d = exp(r), ln_prior = h->prior == EV_PRIOR_ICC ? -2 * log1p(d) : -d;
  return (h->mixed + 1) * r + ln_prior -
         (h->tabled ? ev_rising_read(&h->ln_all, d) : ev_rising_ln(&h->all, d));
}

/* What depends on s alone, and on both. */
static double ln_s_part(const hierarchy *h, double s) {
  return -(h->right.clusters + 1) * log1p(exp(-s)) - (h->wrong.clusters + 1) * log1p(exp(s));
}

static double ln_joint_part(const hierarchy *h, ev_point theta, double d) {
  double a = d * theta.x, b = d * theta.y;
  if (h->tabled) return ev_rising_read_both(&h->ln_right, a, &h->ln_wrong, b);
  return ev_rising_ln(&h->right, a) + ev_rising_ln(&h->wrong, b);
}

static double hierarchy_ln_posterior(const hierarchy *h, double s, double r) {
  return ln_r_part(h, r) + ln_s_part(h, s) + ln_joint_part(h, ev_at_logit(s), exp(r));
}

/* One line of the lattice: all r at one s. */
typedef struct hierarchy_line {
  hierarchy *h;
  ev_point theta;
} hierarchy_line;

static double ln_line_term(int j, void *context) {
  const hierarchy_line *l = context;
  hierarchy *h = l->h;
  if (h->d[j] == 0) {
    double r = h->origin + h->step * (j - HIERARCHY_LATTICE / 2);
    h->d[j] = exp(r);
    h->r_part[j] = ln_r_part(h, r);
  }
  return h->r_part[j] + ln_joint_part(h, l->theta, h->d[j]);
}

/* ln of the posterior of s, by a sum along r from where the last line peaked. */
static double ln_s_density(double s, void *context) {
  hierarchy *h = context;
  hierarchy_line l = {h, ev_at_logit(s)};
  double truncated, s_part = ln_s_part(h, s);
  double ln = ev_ln_sum(ln_line_term, &l, h->least, h->most, LINE_LN_DROP, &h->peak, &truncated);
  if (truncated > ln + log(LINE_TRUNCATION))
    h->ln_truncated = fmax(h->ln_truncated, s_part + truncated);
  return s_part + ln;
}

/*
** Where the posterior is, and on what scale
*/
typedef struct posterior_scale {
  double peak, sd;
} posterior_scale;

/* Steps of one climb: 97 were the most seen in 10,000 random data sets. */
enum { CLIMB_STEPS = 10000 };

/* Along s at fixed r, or along r at fixed s: climbs in steps of `step`, then
** narrows until a parabola fits. */
static posterior_scale scale_along(hierarchy *h, double s, double r, bool along_s, double step) {
#define AT(x)                                                                                      \
  (along_s ? hierarchy_ln_posterior(h, s + (x), r) : hierarchy_ln_posterior(h, s, r + (x)))
  double x = 0, low = 0, mid = AT(0), high = 0;
  int steps = 0;
  for (; steps < CLIMB_STEPS && !hierarchy_interrupted(h); steps++) {
    low = AT(x - step);
    high = AT(x + step);
    if (fmax(low, high) > mid && fabs(x) < 40) {
      x += high > low ? step : -step;
      mid = fmax(low, high);
      continue;
    }
    if (mid - fmin(low, high) < 3 || step < 1e-9) break;
    double bend = low + high - 2 * mid;
    x += fmax(-0.5, fmin(0.5, (low - high) / 2 / bend)) * step;
    mid = AT(x);
    step /= 3;
  }
#undef AT
  if (steps == CLIMB_STEPS) h->lost = true;
  double bend = (2 * mid - low - high) / (step * step);
  return (posterior_scale){(along_s ? s : r) + x, 1 / sqrt(fmax(bend, 0.05))};
}

/* The peak, and the scale along each axis through it.  The pooled mean, where it begins,
** can be far off when clusters are unequal: it climbs in turn until neither peak moves by
** more than its width.  A peak that still moves after CLIMB_TURNS only places the lattice
** worse: whether well enough is seen from what its ends cut off. */
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

/* The prior e^-d leaves nothing long before r = 40; (1+d)^-2 leaves e^-45 at 45, which is
** below what a level of 1 - 1e-15 asks about. */
static double r_limit(const hierarchy *h) {
  return h->prior == EV_PRIOR_ICC ? 45 : 40;
}

/* How far up r there is anything, at the peak and along lines away from it: s and r
** can be so tied that those have theirs farther up.  Before, only the line through the
** peak was followed, and a bound was off by 2.7e-8. */
static double highest_r(hierarchy *h, posterior_scale s, posterior_scale r) {
  static const double sds_away[] = {0, -4, 4, -8, 8, -16, 16};
  double least = hierarchy_ln_posterior(h, s.peak, r.peak) - h->ln_drop - 8;
  double step = fmin(r.sd, 0.5), x = r.peak + 5 * step;
  for (size_t i = 0; i < sizeof sds_away / sizeof *sds_away; i++)
    while (x < r_limit(h) && !hierarchy_interrupted(h) &&
           hierarchy_ln_posterior(h, s.peak + sds_away[i] * s.sd, x) > least)
      x += step;
  return x + 2 * step;
}

/* The part of the plane that matters. */
typedef struct posterior_region {
  double low_s, high_s, low_r, high_r;
} posterior_region;

static posterior_region whole_region(double most_r) {
  return (posterior_region){-HUGE_VAL, HUGE_VAL, -HUGE_VAL, most_r};
}

/* 16 standard deviations either way, of each axis with the other fixed.  The tables are
** short then, however many clusters there are. */
static posterior_region narrow_region(posterior_scale s, posterior_scale r, double most_r) {
  return (posterior_region){s.peak - 16 * s.sd, s.peak + 16 * s.sd, r.peak - 16 * r.sd,
                            fmin(r.peak + 16 * r.sd, most_r)};
}

/* Puts the three products into tables over the region. */
static void make_tables(hierarchy *h, posterior_region in) {
  double low_d = exp(in.low_r), high_d = exp(in.high_r);
  ev_point low = ev_at_logit(in.low_s), high = ev_at_logit(in.high_s);
  h->tabled = false;
  hierarchy_tabulate(h, &h->all, log1p(low_d), log1p(high_d), &h->ln_all);
  hierarchy_tabulate(h, &h->right, log1p(low_d * low.x), log1p(high_d * high.x), &h->ln_right);
  hierarchy_tabulate(h, &h->wrong, log1p(low_d * high.y), log1p(high_d * low.y), &h->ln_wrong);
  h->tabled = true;
}

/* The sum along r converges as exp(-pi^2 / step) for what is analytic to within pi/2 of
** the axis, and as exp(-2 pi^2 (sd/step)^2) for a normal.  Steps of min(0.4, 0.8 sd) were
** 2e-8 off at the worst of 3,000 random data sets, these 8e-10.  The lattice ends where
** the tables do, and 60 below the peak. */
static void set_lattice(hierarchy *h, posterior_scale r, posterior_region in) {
  h->step = fmin(0.35, 0.75 * r.sd);
  h->origin = r.peak;
  h->peak = HIERARCHY_LATTICE / 2;
  double low_r = fmax(in.low_r, r.peak - 60);
  h->least = (int)fmax(0, HIERARCHY_LATTICE / 2 + ceil((low_r - h->origin) / h->step));
  h->most = (int)fmin(HIERARCHY_LATTICE - 1,
                      HIERARCHY_LATTICE / 2 + floor((in.high_r - h->origin) / h->step));
  for (int i = 0; i < HIERARCHY_LATTICE; i++) h->d[i] = 0;
  h->ln_truncated = -HUGE_VAL;
}

/* The interval from the posterior within a region; EV_NOT_CONVERGED also where the
** region cuts too much of it off.  1e-9 of the density is a tenth of what is promised;
** some 60 lines are the rule, 400 were the most seen. */
static ev_status interval_within(hierarchy *h, posterior_region in, posterior_scale s,
                                 posterior_scale r, double tail, ev_interval *ci) {
  ev_search search = {.ln_density = ln_s_density,
                      .context = h,
                      .start = s.peak,
                      .width = fmin(2, 4 * s.sd),
                      .bounded = true,
                      .least = in.low_s,
                      .most = in.high_s,
                      .ln_drop = h->ln_drop,
                      .tolerance = 1e-9,
                      .tail = tail,
                      .budget = 4800};
  ev_marginal m;
  ev_interval logit;
  make_tables(h, in);
  if (h->interrupted) return EV_INTERRUPTED;
  set_lattice(h, r, in);
  ev_status status = ev_marginal_find(&m, &search);
  if (!ev_marginal_negligible(&m, h->ln_truncated, LINE_TRUNCATION * tail))
    status = EV_NOT_CONVERGED;
  if (status == EV_OK) status = ev_marginal_interval(&m, tail, &logit);
  if (status == EV_OK) *ci = (ev_interval){ev_at_logit(logit.lo).x, ev_at_logit(logit.hi).x};
  return status;
}

/* Where the posterior is wide, so is the region: it reaches down to d = 0 and to both ends
** of s.  Where it is narrow the region is too; but s and r can be so tied, as by hundreds
** of clusters nearly all right beside a few that are not, that the ridge leaves it, 16
** standard deviations of either alone notwithstanding.  Then every r has to do, up to
** where the prior leaves nothing.  Before, the narrow region was all there was: of 15,000
** random data sets 24 had a bound off by more than 1e-10, the worst by 0.017. */
static ev_status hierarchy_interval(hierarchy *h, pooled_counts pooled, double tail,
                                    ev_interval *ci) {
  posterior_scale s, r;
  h->ln_drop = 20 - log(tail);
  find_peak(h, pooled, &s, &r);
  double rounding = DBL_EPSILON * (h->mixed * fabs(r.peak) + ev_rising_ln(&h->all, exp(r.peak)));
  if (h->interrupted) return EV_INTERRUPTED;
  if (h->lost) return EV_NOT_CONVERGED;
  if (rounding > 1e-3) return EV_TOO_LARGE;
  double most_r = highest_r(h, s, r);
  bool wide = s.sd >= 0.1 || r.sd >= 0.1;
  posterior_region in = wide ? whole_region(most_r) : narrow_region(s, r, most_r);
  ev_status status = interval_within(h, in, s, r, tail, ci);
  if (status == EV_NOT_CONVERGED)
    status = interval_within(h, whole_region(r_limit(h)), s, r, tail, ci);
  return h->interrupted ? EV_INTERRUPTED : status;
}

/* Into three lists of counts, for which `items` has room. */
static void tally_clusters(hierarchy *h, const ev_cluster *clusters, size_t count,
                           ev_tally *items) {
  h->right = (ev_rising){items, count, 0};
  h->wrong = (ev_rising){items + count, count, 0};
  h->all = (ev_rising){items + 2 * count, count, 0};
  for (size_t i = 0; i < count; i++) {
    ev_cluster c = clusters[i];
    h->right.items[i] = (ev_tally){c.k, c.times};
    h->wrong.items[i] = (ev_tally){c.n - c.k, c.times};
    h->all.items[i] = (ev_tally){c.n, c.times};
  }
  ev_rising_settle(&h->right);
  ev_rising_settle(&h->wrong);
  ev_rising_settle(&h->all);
  h->mixed = h->right.clusters + h->wrong.clusters - h->all.clusters;
}

ev_status ev_clustered(const ev_cluster *clusters, size_t count, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  assert(options->level > 0 && options->level < 1);
  ev_cluster *merged = merged_clusters(clusters, &count);
  hierarchy *h = calloc(1, sizeof *h);
  ev_tally *items = malloc(3 * count * sizeof *items);
  ev_status status = EV_NO_MEMORY;
  if (merged && h && items) {
    h->host = host;
    h->prior = options->prior;
    tally_clusters(h, merged, count, items);
    status = hierarchy_interval(h, pool_clusters(merged, count), ev_tail(options), ci);
  }
  free(items);
  free(h);
  free(merged);
  return status;
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
