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
** is smooth and falls off at least exponentially.  Both integrals are plain trapezoid
** sums, which converge exponentially there, and tell how far they have by how far the sum
** of every other point is from them.  Quantiles come from the sinc functions through the
** points; where these are no answer, as when the tail asked for is small beside rounding
** of the whole, from ev_marginal.
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
#include "proportion.h"
#include "rising.h"
#include "sinc.h"

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
enum { HIERARCHY_LATTICE = 1024, HIERARCHY_GROUPS = HIERARCHY_LATTICE / EV_LANES };

/* How far below its peak the sum along a line goes: e^-21 is 8e-10 of it.  Was 22; the
** bounds moved by less than 1e-9. */
static const double LINE_LN_DROP = 21;

/* What the sum along a line that matters may be wrong by, as a share: a bound then moves by
** less than half as much of its standard deviation. */
static const double LINE_ERROR = 1e-8;

/* What the share of the mass beyond a bound may be wrong by, as a share of itself. */
static const double TAIL_ERROR = 3e-9;

/* Of a smaller tail sinc functions leave less than that: each has 1e-17 of the whole. */
static const double SINC_LEAST_TAIL = 1e-7;

/* Lines either way of the lattice in s that there is room for. */
enum { HIERARCHY_LINES = 256 };

typedef struct s_lattice {
  double origin, step, stretch;
  int below, above; /* lines on either side of the origin */
  double ln[2 * HIERARCHY_LINES + 1], density[2 * HIERARCHY_LINES + 1],
      room[2 * HIERARCHY_LINES + 1];
} s_lattice;

typedef struct hierarchy {
  ev_rising right, wrong, all;
  double mixed; /* clusters with both right and wrong answers */
  ev_prior prior;
  double origin, step, stretch; /* of the lattice in r */
  int peak;                     /* the group where the last line had its peak */
  bool ready[HIERARCHY_GROUPS]; /* whether the following two are, of a group of points */
  ev_lanes_kept d[HIERARCHY_GROUPS], r_part[HIERARCHY_GROUPS];
  ev_lanes_kept line[HIERARCHY_GROUPS]; /* what is summed along the last line */
  double tail;                          /* the least share that is asked about */
  double ln_most;                       /* the largest density of s that was met */
  double error;   /* the most that the sum along a line that matters is wrong by */
  double ln_drop; /* how far below its peak the posterior of s is negligible */
  s_lattice lines;
  ev_host host;
  bool many;        /* so many different counts that the host is asked */
  bool interrupted; /* it has had enough: only finish */
  bool lost;        /* a climb to the peak did not end */
} hierarchy;

static bool hierarchy_interrupted(hierarchy *h) {
  if (!h->interrupted && h->many)
    h->interrupted = h->host.interrupted && h->host.interrupted(h->host.context);
  return h->interrupted;
}

/* What depends on r = ln d alone, but for (d)_n: prior, change of variable. */
static double ln_r_part(const hierarchy *h, double r, double d) {
  double ln_prior = h->prior == EV_PRIOR_ICC ? -2 * log1p(d) : -d;
  return (h->mixed + 1) * r + ln_prior;
}

/* What depends on s alone, and on both. */
static double ln_s_part(const hierarchy *h, double s) {
  return -(h->right.clusters + 1) * log1p(exp(-s)) - (h->wrong.clusters + 1) * log1p(exp(s));
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

/* The lattice's points are r = origin + stretch * sinh(j step / stretch): their distances
** grow where a tail falls off like exp(-|r|) only.  The prior e^-d leaves nothing long
** before r = 45, and (1+d)^-2 leaves e^-45, which is below what a level of 1 - 1e-15 asks
** about. */
static void prepare_group(hierarchy *h, int group) {
  ev_lanes ln_all = {0};
  for (int i = 0; i < EV_LANES; i++) {
    double j = group * EV_LANES + i - HIERARCHY_LATTICE / 2, t = j * h->step / h->stretch;
    double r = h->origin + h->stretch * sinh(t);
    bool within = r >= -60 && r <= 45;
    h->d[group][i] = within ? exp(r) : 1;
    h->r_part[group][i] = within ? ln_r_part(h, r, h->d[group][i]) + log(cosh(t)) : -1e300;
  }
  ev_lanes d = h->d[group];
  ev_rising_add(&h->all, &d, &ln_all);
  h->r_part[group] -= ln_all;
  h->ready[group] = true;
}

/* Fills a group of the line at theta, and returns its largest term. */
EV_INLINE double line_group(hierarchy *h, ev_point theta, int group) {
  if (!h->ready[group]) prepare_group(h, group);
  ev_lanes a = h->d[group] * theta.x, b = h->d[group] * theta.y, sum = h->r_part[group];
  ev_rising_add(&h->right, &a, &sum);
  ev_rising_add(&h->wrong, &b, &sum);
  h->line[group] = sum;
  double low = sum[0] > sum[1] ? sum[0] : sum[1], high = sum[2] > sum[3] ? sum[2] : sum[3];
  return low > high ? low : high;
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

/* ln of the posterior of s, by a sum along r from where the last line peaked. */
EV_WIDE static double ln_s_density(double s, void *context) {
  hierarchy *h = context;
  ev_point theta = ev_at_logit(s);
  int first = h->peak, last = first, peak = first;
  double best = line_group(h, theta, peak), most = best;
  while (last + 1 < HIERARCHY_GROUPS && most > best - LINE_LN_DROP) {
    most = line_group(h, theta, ++last);
    if (most > best) {
      peak = last;
      best = most;
    }
  }
  bool fell = most <= best - LINE_LN_DROP;
  most = best;
  while (first > 0 && most > best - LINE_LN_DROP) {
    most = line_group(h, theta, --first);
    if (most > best) {
      peak = first;
      best = most;
    }
  }
  fell = fell && most <= best - LINE_LN_DROP;
  ev_lanes sum = {0};
  for (int i = first; i <= last; i++) {
    ev_lanes term = h->line[i] - best;
    ev_exp(&term, 1);
    sum += term;
  }
  h->peak = peak;
  double total = ev_sum(&sum), ln = ln_s_part(h, s) + best + log(total);
  h->ln_most = fmax(h->ln_most, ln);
  double error = fell ? trapezoid_error(&sum, total) : 1;
  if (error > LINE_ERROR)
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

/* The sum along r converges as exp(-pi^2 / step) for what is analytic to within pi/2 of
** the axis, and as exp(-2 pi^2 (sd/step)^2) for a normal; steps that grow, after some 4 sd,
** take a third of the points where a tail is exponential.  Where that is too coarse, it is
** `refined`: of 3,000 random calls some 150 had to be. */
static void set_lattice(hierarchy *h, posterior_scale r, double refined) {
  h->step = fmin(0.3, 0.6 * r.sd) / refined;
  h->stretch = fmin(3, fmax(4 * r.sd, fmin(1, 64 * h->step * refined))) * refined;
  h->origin = r.peak;
  h->peak = HIERARCHY_GROUPS / 2;
  for (int i = 0; i < HIERARCHY_GROUPS; i++) h->ready[i] = false;
  h->ln_most = -HUGE_VAL;
  h->error = 0;
}

/* s at a point x of its lattice. */
static double lattice_s(const s_lattice *l, double x) {
  return l->origin + l->stretch * sinh(x / l->stretch);
}

/* ln of the density of x, at a multiple of the step. */
static double ln_x_density(hierarchy *h, double j) {
  double x = j * h->lines.step;
  return ln_s_density(lattice_s(&h->lines, x), h) + log(cosh(x / h->lines.stretch));
}

/* Where the lattice in s begins, and how long its steps are: by the posterior of s, which
** is the wider than the line through the peak the more s and r are tied.  Sinc functions
** through a normal leave exp(-(pi sd / step)^2 / 2), and where one side is steep, and so
** falls by more than the 8 of a normal in 4 sd, it has a smaller scale.  Of 3,000 random
** calls some 600 needed half the step. */
static void set_lines(hierarchy *h, posterior_scale s) {
  double low = ln_s_density(s.peak - s.sd, h), mid = ln_s_density(s.peak, h);
  double high = ln_s_density(s.peak + s.sd, h);
  double bend = fmax(2 * mid - low - high, 0.05 * s.sd * s.sd), sd = s.sd / sqrt(bend);
  double drop = mid - fmin(ln_s_density(s.peak - 4 * sd, h), ln_s_density(s.peak + 4 * sd, h));
  double scale = sd * fmin(1, sqrt(4 / drop));
  h->lines.origin = s.peak + fmax(-1, fmin(1, (high - low) / 2 / bend)) * s.sd;
  h->lines.stretch = fmin(3, 4 * sd);
  h->lines.step = fmin(0.28, 0.78 * scale * M_PI / sqrt(2 * log(3 / (TAIL_ERROR * h->tail))));
}

/* The lines one way from the middle, until nothing is left; returns how many, or -1. */
static int add_lines(hierarchy *h, int side, double *ln_most) {
  double *ln = h->lines.ln + HIERARCHY_LINES;
  for (int j = 1; j <= HIERARCHY_LINES && !hierarchy_interrupted(h); j++) {
    ln[side * j] = ln_x_density(h, side * j);
    *ln_most = fmax(*ln_most, ln[side * j]);
    if (ln[side * j] < *ln_most - h->ln_drop) return j;
  }
  return -1;
}

/* Puts a line between any two. */
static bool refine_lines(hierarchy *h) {
  s_lattice *l = &h->lines;
  double *ln = l->ln + HIERARCHY_LINES;
  if (2 * l->below > HIERARCHY_LINES || 2 * l->above > HIERARCHY_LINES) return false;
  for (int j = l->below; j > 0; j--) ln[-2 * j] = ln[-j];
  for (int j = l->above; j > 0; j--) ln[2 * j] = ln[j];
  l->below *= 2;
  l->above *= 2;
  l->step /= 2;
  for (int j = -l->below + 1; j < l->above && !hierarchy_interrupted(h); j += 2)
    ln[j] = ln_x_density(h, j);
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
static ev_status lattice_interval(hierarchy *h, posterior_scale s, ev_interval *ci) {
  s_lattice *l = &h->lines;
  double ln_most, uneven, x, y;
  set_lines(h, s);
  if (h->error > LINE_ERROR) return EV_NOT_CONVERGED;
  int peak = h->peak;
  l->ln[HIERARCHY_LINES] = ln_most = ln_x_density(h, 0);
  l->above = add_lines(h, 1, &ln_most);
  h->peak = peak;
  l->below = add_lines(h, -1, &ln_most);
  if (l->above < 0 || l->below < 0) return EV_NOT_CONVERGED;
  double sum = sum_lines(l, ln_most, &uneven);
  while (!(uneven < TAIL_ERROR * h->tail)) {
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
  ci->lo = ev_at_logit(lattice_s(l, (x - l->below) * l->step)).x;
  ci->hi = ev_at_logit(lattice_s(l, (l->above - y) * l->step)).x;
  return EV_OK;
}

/* The interval by panels; 1e-9 of the density is a tenth of what is promised; some 60 lines
** are the rule, 400 were the most seen. */
static ev_status panels_interval(hierarchy *h, posterior_scale s, ev_interval *ci) {
  ev_search search = {.ln_density = ln_s_density,
                      .context = h,
                      .start = s.peak,
                      .width = fmin(2, 4 * s.sd),
                      .ln_drop = h->ln_drop,
                      .tolerance = 1e-9,
                      .tail = h->tail,
                      .budget = 4800};
  ev_marginal m;
  ev_interval logit;
  ev_status status = ev_marginal_find(&m, &search);
  if (status == EV_OK) status = ev_marginal_interval(&m, h->tail, &logit);
  if (status == EV_OK) *ci = (ev_interval){ev_at_logit(logit.lo).x, ev_at_logit(logit.hi).x};
  return status;
}

/* One question a cluster: nothing is tied, and d is not in the likelihood. */
static ev_status independent_interval(pooled_counts pooled, const ev_options *options,
                                      ev_interval *ci) {
  const double counts[] = {pooled.right, pooled.all};
  ev_options uniform = *options;
  uniform.a = uniform.b = 1;
  return ev_bayes(counts, &uniform, ci);
}

/* Sinc functions, or panels where those are no answer; on a finer lattice in r as long as a
** line that matters wants it. */
static ev_status hierarchy_interval(hierarchy *h, pooled_counts pooled, ev_interval *ci) {
  posterior_scale s, r;
  h->ln_drop = 20 - log(h->tail);
  find_peak(h, pooled, &s, &r);
  if (h->interrupted) return EV_INTERRUPTED;
  if (h->lost) return EV_NOT_CONVERGED;
  double rounding = DBL_EPSILON * (h->mixed * fabs(r.peak) + ev_rising_at(&h->all, exp(r.peak)));
  if (rounding > 1e-3) return EV_TOO_LARGE;
  ev_status status = EV_NOT_CONVERGED;
  for (double refined = 1; refined <= 8; refined *= 1.5) {
    set_lattice(h, r, refined);
    if (h->tail >= SINC_LEAST_TAIL) status = lattice_interval(h, s, ci);
    if (status == EV_NOT_CONVERGED && h->error <= LINE_ERROR) status = panels_interval(h, s, ci);
    if (h->interrupted) return EV_INTERRUPTED;
    if (h->error <= LINE_ERROR) return status;
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

ev_status ev_clustered(const ev_cluster *clusters, size_t count, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  assert(options->level > 0 && options->level < 1);
  ev_cluster *merged = merged_clusters(clusters, &count);
  hierarchy *h = malloc(sizeof *h);
  ev_tally *counts = malloc(count * sizeof *counts);
  ev_status status = EV_NO_MEMORY;
  if (merged && h && counts) {
    h->host = host;
    h->many = count > 1000;
    h->lost = h->interrupted = false;
    h->prior = options->prior;
    h->tail = ev_tail(options);
    tally_clusters(h, merged, count, counts);
    pooled_counts pooled = pool_clusters(merged, count);
    status = h->all.factors == 0 ? independent_interval(pooled, options, ci)
                                 : hierarchy_interval(h, pooled, ci);
  }
  free(counts);
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
