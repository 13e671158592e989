/*
** The Beta-binomial hierarchy of Bowyer et al. 2025, section 3.2:
**
**     theta ~ U(0,1),  d ~ Gamma(1,1),  theta_t ~ Beta(d theta, d (1-theta)),
**     k_t ~ Binomial(n_t, theta_t).
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
** Taking the first factor x out of each leaves sums of ln (1 + x/i), which are
** smooth in v = ln(1+x) up to a distance pi from the real axis: they are
** tabulated once as Chebyshev series, and from there on the number of clusters
** does not matter.  In the plane of s = logit theta and r = ln d the posterior
** is smooth and falls off at least exponentially.  The inner integral over r is
** a plain trapezoid sum, which converges exponentially there; the outer one
** over s is ev_marginal's.
*/
#include "clustered.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "marginal.h"

/*
** L(x) = sum over counts of ln[(x+1)(x+2)..(x+k-1) / (k-1)!]
*/
typedef struct tally {
  double count, times; /* a count of answers, and how many clusters have it */
} tally;

typedef struct tallies {
  tally *items;
  size_t size;
  double clusters; /* with a count of at least one */
} tallies;

enum { DIRECT = 64 };

/* ln Gamma(k+x) - ln Gamma(k) for k >= 64, by Stirling's series, arranged so
** that a large k costs no digits. */
static double stirling(double z) {
  double w = 1 / (z * z);
  return (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260))) / z;
}

static double ln_gamma_rise(double k, double x) {
  return (k - 0.5) * log1p(x / k) + x * log(k + x) - x + (stirling(k + x) - stirling(k));
}

static double ln_product(const tallies *t, double x) {
  double sum = 0, ln_rise = 0;
  size_t i = 0;
  for (int factor = 1; factor < DIRECT && i < t->size; factor++) {
    ln_rise += log1p(x / factor);
    if (t->items[i].count == factor + 1) sum += t->items[i++].times * ln_rise;
  }
  double from = i < t->size ? ln_rise - ln_gamma_rise(DIRECT, x) : 0;
  for (; i < t->size; i++) sum += t->items[i].times * (from + ln_gamma_rise(t->items[i].count, x));
  return sum;
}

static int by_count(const void *a, const void *b) {
  double x = ((const tally *)a)->count, y = ((const tally *)b)->count;
  return (x > y) - (x < y);
}

/* More different counts than MOST are thinned to about BINS classes of equal
** ratio, each left as two counts with the class's mean and variance in ln k.  A
** class spans a thousandth at the most, and ln_gamma_rise is nearly a straight
** line in ln k: measured at 10^5 different counts, the bounds move by 5e-12. */
enum { MOST = 20000, BINS = 8000 };

static void thin(tallies *t) {
  size_t i = 0;
  if (t->size <= MOST) return;
  while (t->items[i].count < DIRECT) i++;
  size_t kept = i;
  double first = log(t->items[i].count);
  double width = (log(t->items[t->size - 1].count) - first) / BINS;
  while (i < t->size) {
    double end = first + width * (floor((log(t->items[i].count) - first) / width) + 1);
    double times = 0, sum = 0, square = 0, origin = log(t->items[i].count);
    for (bool in = true; in; in = i < t->size && log(t->items[i].count) < end) {
      double from_origin = log(t->items[i].count) - origin;
      times += t->items[i].times;
      sum += t->items[i].times * from_origin;
      square += t->items[i++].times * from_origin * from_origin;
    }
    double mean = sum / times, sd = sqrt(fmax(0, square / times - mean * mean));
    t->items[kept++] = (tally){exp(origin + mean - sd), sd > 0 ? times / 2 : times};
    if (sd > 0) t->items[kept++] = (tally){exp(origin + mean + sd), times / 2};
  }
  t->size = kept;
}

/* Sorts and merges; counts of 0 and 1 leave no product behind. */
static void settle(tallies *t) {
  qsort(t->items, t->size, sizeof *t->items, by_count);
  size_t kept = 0;
  t->clusters = 0;
  for (size_t i = 0; i < t->size; i++) {
    tally next = t->items[i];
    if (next.count >= 1) t->clusters += next.times;
    if (next.count < 2) continue;
    if (kept > 0 && t->items[kept - 1].count == next.count)
      t->items[kept - 1].times += next.times;
    else
      t->items[kept++] = next;
  }
  t->size = kept;
  thin(t);
}

/*
** L as Chebyshev series in v = ln(1+x), on equal cells of [from, to]
*/
enum { CELLS = 64, TERMS = 40, ROOM = 1024 };

typedef struct table {
  double from, width; /* of all cells, and of one */
  int cells, terms;
  double c[ROOM]; /* each cell's, one after the other */
} table;

/* One cell, from its values at n Chebyshev points u. */
static void fill_cell(const tallies *t, double from, double half, int n, const double *u,
                      double *c) {
  for (int k = 0; k < n; k++) c[k] = 0;
  for (int i = 0; i < n; i++) {
    double f = ln_product(t, expm1(from + half * (1 + u[i]))) * 2 / n;
    /* cos(k angle) by its recurrence in k */
    double now = 1, next = u[i];
    for (int k = 0; k < n; k++) {
      c[k] += f * now;
      double after = 2 * u[i] * next - now;
      now = next;
      next = after;
    }
  }
  c[0] /= 2;
}

/* The cell of a table that x falls in, and where in it, from -1 to 1. */
static const double *cell_of(const table *t, double x, double *u) {
  double at = (log1p(x) - t->from) / t->width;
  int cell = at < 0 ? 0 : at >= t->cells ? t->cells - 1 : (int)at;
  *u = 2 * (at - cell) - 1;
  return t->c + cell * t->terms;
}

static double read_table(const table *t, double x) {
  if (t->terms == 0) return 0;
  double u, b0 = 0, b1 = 0;
  const double *c = cell_of(t, x, &u);
  for (int k = t->terms - 1; k > 0; k--) {
    double b2 = b1;
    b1 = b0;
    b0 = 2 * u * b1 - b2 + c[k];
  }
  return u * b0 - b1 + c[0];
}

/* The sum of two readings.  Side by side they take the time of one, since each
** only waits for itself. */
static double read_tables(const table *t, double x, const table *s, double y) {
  if (t->terms != s->terms || t->terms == 0) return read_table(t, x) + read_table(s, y);
  double u, v, b0 = 0, b1 = 0, d0 = 0, d1 = 0;
  const double *c = cell_of(t, x, &u), *e = cell_of(s, y, &v);
  for (int k = t->terms - 1; k > 0; k--) {
    double b2 = b1, d2 = d1;
    b1 = b0;
    d1 = d0;
    b0 = 2 * u * b1 - b2 + c[k];
    d0 = 2 * v * d1 - d2 + e[k];
  }
  return (u * b0 - b1 + c[0]) + (v * d0 - d1 + e[0]);
}

/*
** The posterior
*/
enum { LATTICE = 1024 };

/* e^-21 of a line's peak is 8e-10 of it. */
static const double LINE_CUT = 21;

typedef struct hierarchy {
  tallies right, wrong, all;
  double mixed; /* clusters with both right and wrong answers */
  bool tabled;
  table ln_right, ln_wrong, ln_all;
  double cut;                         /* how far below its peak the posterior is negligible */
  double origin, step;                /* of the lattice in r */
  int least, most;                    /* its last points within the tables */
  int peak;                           /* where the last line had its peak */
  double d[LATTICE], r_part[LATTICE]; /* of each point; d is 0 until it is wanted */
  ev_host host;
  bool stopped;   /* the host has had enough: only finish */
  bool too_large; /* the sums cannot be told apart */
} hierarchy;

/* Whether to give up.  Only a sum over many different counts is long enough to
** ask, and everything else follows from such sums. */
static bool given_up(hierarchy *h) {
  if (!h->stopped && h->all.size > 1000) h->stopped = h->host.stop && h->host.stop(h->host.context);
  return h->stopped;
}

/* The singularities are pi away, so coefficients fall as exp(-k asinh(pi/half)).
** Short cells are the faster to read and long ones the fewer to fill, which is
** what counts when there are many different counts. */
static void tabulate(hierarchy *h, const tallies *t, double from, double to, table *out) {
  double wish = t->size < 1000 ? 0.4 : 4;
  out->cells = (int)fmax(1, fmin(CELLS, ceil((to - from) / wish)));
  out->from = from;
  out->width = (to - from) / out->cells;
  out->terms = t->size ? (int)fmin(TERMS, 2 + 30 / asinh(2 * M_PI / out->width)) : 0;
  double u[TERMS];
  for (int i = 0; i < out->terms; i++) u[i] = cos(M_PI * (i + 0.5) / out->terms);
  for (int i = 0; i < out->cells && t->size && !given_up(h); i++)
    fill_cell(t, from + i * out->width, out->width / 2, out->terms, u, out->c + i * out->terms);
}

/* What depends on r = ln d alone: prior, change of variable, (d)_n. */
static double ln_r_part(const hierarchy *h, double r) {
  double d = exp(r);
  return (h->mixed + 1) * r - d - (h->tabled ? read_table(&h->ln_all, d) : ln_product(&h->all, d));
}

/* What depends on s alone, and on both. */
static double ln_s_part(const hierarchy *h, double s) {
  return -(h->right.clusters + 1) * log1p(exp(-s)) - (h->wrong.clusters + 1) * log1p(exp(s));
}

static double ln_joint_part(const hierarchy *h, double theta, double rest, double d) {
  if (h->tabled) return read_tables(&h->ln_right, d * theta, &h->ln_wrong, d * rest);
  return ln_product(&h->right, d * theta) + ln_product(&h->wrong, d * rest);
}

static double theta_at(double s) {
  return 1 / (1 + exp(-s));
}

static double ln_posterior(const hierarchy *h, double s, double r) {
  return ln_r_part(h, r) + ln_s_part(h, s) + ln_joint_part(h, theta_at(s), theta_at(-s), exp(r));
}

/* One line of the lattice: all r at one s. */
typedef struct line {
  hierarchy *h;
  double theta, rest;
} line;

static double ln_on_line(int j, void *context) {
  const line *l = context;
  hierarchy *h = l->h;
  if (h->d[j] == 0) {
    double r = h->origin + h->step * (j - LATTICE / 2);
    h->d[j] = exp(r);
    h->r_part[j] = ln_r_part(h, r);
  }
  return h->r_part[j] + ln_joint_part(h, l->theta, l->rest, h->d[j]);
}

/* ln of the posterior of s, by a sum along r from where the last line peaked. */
static double ln_line(double s, void *context) {
  hierarchy *h = context;
  line l = {h, theta_at(s), theta_at(-s)};
  return ln_s_part(h, s) + ev_ln_sum(ln_on_line, &l, h->least, h->most, &h->peak, LINE_CUT);
}

/*
** Where the posterior is, and on what scale
*/
typedef struct scale {
  double peak, sd;
} scale;

/* Along s at fixed r, or along r at fixed s: climbs in steps of `step`, then
** narrows until a parabola fits. */
static scale scale_of(hierarchy *h, double s, double r, bool along_s, double step) {
#define AT(x) (along_s ? ln_posterior(h, s + (x), r) : ln_posterior(h, s, r + (x)))
  double x = 0, low = 0, mid = AT(0), high = 0;
  while (!given_up(h)) {
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
  double bend = (2 * mid - low - high) / (step * step);
  return (scale){(along_s ? s : r) + x, 1 / sqrt(fmax(bend, 0.05))};
}

/* How far up r there is anything, at the peak and along lines away from it: s and r
** can be so tied that those have theirs farther up. */
static double reach(hierarchy *h, scale s, scale r) {
  static const double away[] = {0, -4, 4, -8, 8, -16, 16};
  double least = ln_posterior(h, s.peak, r.peak) - h->cut - 8;
  double step = fmin(r.sd, 0.5), x = r.peak + 5 * step;
  for (size_t i = 0; i < sizeof away / sizeof *away; i++)
    while (x < 40 && !given_up(h) && ln_posterior(h, s.peak + away[i] * s.sd, x) > least) x += step;
  return x + 2 * step;
}

/* The part of the plane that matters.  Where the posterior is narrow, so is it,
** and the tables are short however many clusters there are; where it is wide, it
** reaches down to d = 0 and to both ends of s. */
typedef struct region {
  double low_s, high_s, low_r, high_r;
} region;

static region region_of(scale s, scale r, double most_r) {
  if (s.sd >= 0.1 || r.sd >= 0.1) return (region){-HUGE_VAL, HUGE_VAL, -HUGE_VAL, most_r};
  return (region){s.peak - 16 * s.sd, s.peak + 16 * s.sd, r.peak - 16 * r.sd,
                  fmin(r.peak + 16 * r.sd, most_r)};
}

/* Puts the three products into tables over the region. */
static void make_tables(hierarchy *h, scale r, region in) {
  double low_d = exp(in.low_r), high_d = exp(in.high_r);
  double low_a = low_d * theta_at(in.low_s), high_a = high_d * theta_at(in.high_s);
  double low_b = low_d * theta_at(-in.high_s), high_b = high_d * theta_at(-in.low_s);
  tabulate(h, &h->all, log1p(low_d), log1p(high_d), &h->ln_all);
  tabulate(h, &h->right, log1p(low_a), log1p(high_a), &h->ln_right);
  tabulate(h, &h->wrong, log1p(low_b), log1p(high_b), &h->ln_wrong);
  h->tabled = true;
  /* The sum along r converges as exp(-pi^2 / step) for what is analytic to
  ** within pi/2 of the axis, and as exp(-2 pi^2 (sd/step)^2) for a normal. */
  h->step = fmin(0.35, 0.75 * r.sd);
  h->origin = r.peak;
  h->peak = LATTICE / 2;
  /* The lattice ends where the tables do, and 60 below the peak. */
  double low_r = fmax(in.low_r, r.peak - 60);
  h->least = (int)fmax(0, LATTICE / 2 + ceil((low_r - h->origin) / h->step));
  h->most = (int)fmin(LATTICE - 1, LATTICE / 2 + floor((in.high_r - h->origin) / h->step));
}

static ev_interval interval_of(hierarchy *h, const ev_options *options, double right, double all) {
  double s0 = log((right + 1) / (all - right + 1)), tail = ev_tail(options);
  h->cut = 20 - log(tail);
  scale r = scale_of(h, s0, 0, false, 1.5);
  scale s = scale_of(h, s0, r.peak, true, 0.5);
  /* The pooled mean can be far off when clusters are unequal: climb in turn
  ** until neither peak moves by more than its width. */
  for (int i = 0; i < 20; i++) {
    scale r_before = r, s_before = s;
    r = scale_of(h, s.peak, r.peak, false, r.sd);
    s = scale_of(h, s.peak, r.peak, true, s.sd);
    if (fabs(r.peak - r_before.peak) < r.sd && fabs(s.peak - s_before.peak) < s.sd) break;
  }
  double rounding = DBL_EPSILON * (h->mixed * fabs(r.peak) + ln_product(&h->all, exp(r.peak)));
  h->too_large = rounding > 1e-3;
  if (h->too_large || h->stopped) return (ev_interval){0, 1};
  region in = region_of(s, r, reach(h, s, r));
  make_tables(h, r, in);
  if (h->stopped) return (ev_interval){0, 1};
  ev_marginal m;
  ev_marginal_find(&m, &(ev_search){.ln_density = ln_line,
                                    .context = h,
                                    .start = s.peak,
                                    .width = fmin(2, 4 * s.sd),
                                    .least = in.low_s,
                                    .most = in.high_s,
                                    .corner = HUGE_VAL,
                                    .cut = h->cut,
                                    .tolerance = 1e-9,
                                    .tail = tail,
                                    .budget = 4800});
  return (ev_interval){theta_at(ev_marginal_lower(&m, tail)),
                       theta_at(ev_marginal_upper(&m, tail))};
}

ev_status ev_clustered(const ev_cluster *clusters, size_t count, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  hierarchy *h = calloc(1, sizeof *h);
  tally *items = malloc(3 * count * sizeof *items);
  ev_status status = h && items ? EV_DONE : EV_NO_MEMORY;
  if (status == EV_DONE) {
    double right = 0, all = 0;
    h->host = host;
    h->right = (tallies){items, count, 0};
    h->wrong = (tallies){items + count, count, 0};
    h->all = (tallies){items + 2 * count, count, 0};
    for (size_t i = 0; i < count; i++) {
      ev_cluster c = clusters[i];
      h->right.items[i] = (tally){c.k, c.times};
      h->wrong.items[i] = (tally){c.n - c.k, c.times};
      h->all.items[i] = (tally){c.n, c.times};
      right += c.k * c.times;
      all += c.n * c.times;
    }
    settle(&h->right);
    settle(&h->wrong);
    settle(&h->all);
    h->mixed = h->right.clusters + h->wrong.clusters - h->all.clusters;
    *ci = interval_of(h, options, right, all);
    if (h->too_large) status = EV_TOO_LARGE;
    if (h->stopped) status = EV_STOPPED;
  }
  free(items);
  free(h);
  return status;
}

ev_status ev_clustered_clt(const ev_cluster *clusters, size_t count, const ev_options *options,
                           ev_host host, ev_interval *ci) {
  (void)host;
  double right = 0, all = 0, square = 0;
  for (size_t i = 0; i < count; i++) {
    right += clusters[i].k * clusters[i].times;
    all += clusters[i].n * clusters[i].times;
  }
  double mean = right / all;
  for (size_t i = 0; i < count; i++)
    square += clusters[i].times * gsl_pow_2(clusters[i].k - clusters[i].n * mean);
  double half = gsl_cdf_ugaussian_Qinv(ev_tail(options)) * sqrt(square) / all;
  *ci = (ev_interval){mean - half, mean + half};
  return EV_DONE;
}
