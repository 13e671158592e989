/*
** The bivariate probit of Bowyer et al. 2025, section 3.4: on each question
** the models have latent scores (a, b), normal with unit variances, means
** Phi^-1(theta_A) and Phi^-1(theta_B) and correlation rho; a score above zero
** is a right answer.  theta_A, theta_B ~ U(0,1), (1+rho)/2 ~ Beta(4,2).
**
** The likelihood is that of the four cells: both right, only A, only B,
** neither.  With delta = theta_A - theta_B > 0 and I the chance that only B is
** right, they are
**
**     low - I,  delta + I,  I,  high - I,   low = theta_B, high = 1 - theta_A
**
** (and likewise for delta < 0), so one number I(theta_A, theta_B, rho) in
** (0, min(low, high)) gives them all, and only by sums and differences that are
** harmless.  Its derivative by rho is minus the normal density (Plackett,
** Biometrika 41 (1954) 351-360).  On the scale x, e^x = sqrt((1-rho)/(1+rho)),
** that is
**
**     dI/dx = exp(-(D^2 (1 + e^-2x) + S^2 (1 + e^2x)) / 8) / (2 pi cosh x),
**
** D and S being the difference and the sum of the means: one exponential a
** node.  At x = 0 the models are independent and I = low * high.
**
** The density of delta at a point is then an integral over x, within one over
** where theta_B lies on the line of that delta, as a normal score; both by the
** trapezoid rule on the whole axis, where everything falls off exponentially.
** ev_marginal takes it from there.  The density has a corner at delta = 0, which is
** kept between panels while there are fewer than 40 discordant pairs, or when the
** mass above it is asked for.
*/
#include "paired.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "lanes.h"
#include "marginal.h"

/* Points of the trapezoid rule on a panel, half as many on the widest; and panels
** either way of the middle. */
enum { EVEN = 8, REACH = 30, PANELS = 2 * REACH + 1 };

/* Nodes and points in lanes. */
enum { NODES = EV_NODES / EV_LANES, POINTS = EVEN / EV_LANES };

/* The widest panel, on which 16 nodes follow the rate to 1e-10. */
static const double PANEL = 0.9;

/* The longest step along a line, and how many there may be either way. */
static const double WIDEST = 0.6;
enum { STEPS = 200 };

/* How far two sums over every other point of a line should be apart. */
static const double APART = 7e-6;

/* How far below their peaks the integrals over x and along a line go. */
static const double CUT = 18;

/* The nodes in x of a panel, with all of dI/dx that is the same for every pair of
** thetas: e^2x, e^-2x, and what does not depend on them times half the length. */
typedef struct nodes {
  ev_lanes square[NODES], inverse[NODES], factor[NODES];
} nodes;

/* A way from x = 0 to another x, in panels. */
enum { WAY = 24 };
typedef struct way {
  int panels;
  nodes nodes[WAY];
} way;

/* A panel of the lattice in x: its nodes, and the prior at its points. */
typedef struct panel {
  bool ready;
  nodes nodes;
  ev_lanes ln_prior[POINTS];
  double below; /* the prior summed over all points before, once it was asked for */
} panel;

typedef struct probit {
  double both, only_a, only_b, neither;
  double middle, width;               /* of panel REACH, and of each */
  int points;                         /* on each, in lanes: POINTS, or half */
  ev_lanes weight[NODES];             /* of a panel's nodes */
  ev_lanes to_even[EV_NODES][POINTS]; /* from a rate at them to I at its points */
  int at;                             /* the panel where the last line peaked */
  way way;                            /* from x = 0 to the beginning of a panel, */
  int known;                          /* which is this one */
  double delta, length;               /* the line, and 1 - |delta| */
  double origin, step;                /* of the lattice in the position on it */
  panel panels[PANELS];
} probit;

/* One pair of thetas. */
typedef struct means {
  double low, high; /* distances of the pair from the ends of its line */
  double d2, s2;    /* (mu_A - mu_B)^2 / 8 and (mu_A + mu_B)^2 / 8 */
  double counts[4]; /* of the cells low - I, high - I, |delta| + I, I */
  double by_I;      /* how much ln of the likelihood changes by I */
} means;

static void set_nodes(nodes *n, double from, double to) {
  for (int i = 0; i < EV_NODES; i++) {
    double e = exp(from + (to - from) / 2 * (1 + ev_node(i)));
    n->square[i / EV_LANES][i % EV_LANES] = e * e;
    n->inverse[i / EV_LANES][i % EV_LANES] = 1 / (e * e);
    n->factor[i / EV_LANES][i % EV_LANES] = (to - from) / 2 * e / (M_PI * (1 + e * e));
  }
}

/* dI/dx at the nodes, times half the length of their panel; gives its integral. */
EV_INLINE double rates(const probit *q, const nodes *n, const means *m, ev_lanes f[NODES]) {
  ev_lanes sum = {0};
  for (int i = 0; i < NODES; i++) f[i] = -m->d2 * (1 + n->inverse[i]) - m->s2 * (1 + n->square[i]);
  ev_exp(f, NODES);
  for (int i = 0; i < NODES; i++) {
    f[i] *= n->factor[i];
    sum += f[i] * q->weight[i];
  }
  return ev_sum(&sum);
}

/* A whole integral wants fewer nodes than I along a panel. */
static void find_way(way *w, double x) {
  w->panels = (int)fmin(WAY, 1 + fabs(x) / (2 * PANEL));
  for (int i = 0; i < w->panels; i++)
    set_nodes(&w->nodes[i], x * i / w->panels, x * (i + 1) / w->panels);
}

/* I at the end of a way; at its beginning, x = 0, it is low * high. */
EV_INLINE double at_end(const probit *q, const means *m) {
  ev_lanes f[NODES];
  double I = m->low * m->high;
  for (int p = 0; p < q->way.panels; p++) I += rates(q, &q->way.nodes[p], m, f);
  return fmax(0, I);
}

/* Where panel k begins. */
static double beginning(const probit *q, int k) {
  return q->middle + (k - REACH - 0.5) * q->width;
}

/* (1+rho)^3 (1-rho) drho = e^4x / (1+e^2x)^6 dx, up to a constant. */
static double ln_prior(double x) {
  return 4 * x - 6 * log1p(exp(2 * x));
}

static const panel *panel_at(probit *q, int k) {
  panel *p = &q->panels[k];
  if (p->ready) return p;
  double from = beginning(q, k);
  set_nodes(&p->nodes, from, from + q->width);
  for (int i = 0; i < q->points * EV_LANES; i++) {
    double x = from + q->width * (i + 1) / (q->points * EV_LANES);
    p->ln_prior[i / EV_LANES][i % EV_LANES] = ln_prior(x);
  }
  p->ready = true;
  return p;
}

/* The sum of the prior over all of the lattice up to where panel k begins. */
static double prior_below(probit *q, int k) {
  double *sum = &q->panels[k].below, step = q->width / (q->points * EV_LANES);
  if (*sum == 0)
    for (double x = beginning(q, k), end = x - 10; x > end; x -= step) *sum += exp(ln_prior(x));
  return *sum;
}

/* The logarithms along a line, and the largest. */
typedef struct terms {
  int count;
  double most;
  ev_lanes ln[PANELS * POINTS];
} terms;

/* Adds the points of panel k, and moves *I, which is at the end where the walk
** comes in, to the other.  Says whether to walk on. */
EV_INLINE bool add_panel(probit *q, const means *m, int k, bool backward, double *I, terms *t) {
  const panel *p = panel_at(q, k);
  ev_lanes f[NODES];
  double whole = rates(q, &p->nodes, m, f), begin = backward ? *I - whole : *I;
  *I = backward ? begin : begin + whole;
  ev_lanes *here = &t->ln[t->count];
  for (int i = 0; i < q->points; i++) {
    ev_lanes part[NODES], J;
    for (int n = 0, j = 0; n < NODES; n++, j += EV_LANES)
      part[n] = (q->to_even[j][i] * f[n][0] + q->to_even[j + 1][i] * f[n][1]) +
                (q->to_even[j + 2][i] * f[n][2] + q->to_even[j + 3][i] * f[n][3]);
    J = begin + ((part[0] + part[1]) + (part[2] + part[3]));
    const ev_lanes cells[] = {m->low - J, m->high - J, fabs(q->delta) + J, J};
    here[i] = p->ln_prior[i];
    for (int c = 0; c < 4; c++) {
      ev_lanes ln = cells[c];
      if (m->counts[c] == 0) continue;
      ev_log(&ln, 1);
      here[i] += m->counts[c] * ln;
    }
    for (int j = 0; j < EV_LANES; j++)
      if (here[i][j] > t->most) {
        t->most = here[i][j];
        q->at = k;
      }
  }
  t->count += q->points;
  double last = backward ? here[0][0] : here[q->points - 1][EV_LANES - 1];
  return last > t->most - CUT;
}

/* ln of the likelihood where the models differ as little as they can, I = 0. */
static double ln_without_I(const means *m, double d) {
  const double cells[] = {m->low, m->high, d};
  double sum = 0;
  for (int c = 0; c < 3; c++) sum += m->counts[c] > 0 ? m->counts[c] * log(cells[c]) : 0;
  return sum;
}

/* ln of the likelihood integrated over rho: panels either way from where the
** last line peaked, until nothing is left.  When no pair has to be explained by
** I and it has become too small to matter, what is left is the prior. */
EV_WIDE static double ln_over_rho(probit *q, const means *m) {
  terms t;
  t.count = 0;
  t.most = -HUGE_VAL;
  int start = q->at;
  if (q->known != start) find_way(&q->way, beginning(q, start));
  q->known = start;
  double begin = at_end(q, m), I = begin;
  for (int k = start; k < PANELS && add_panel(q, m, k, false, &I, &t);) k++;
  I = begin;
  double below = 0;
  for (int k = start - 1; k >= 0 && below == 0; k--) {
    if (m->counts[3] == 0 && I * m->by_I < 1e-11)
      below = exp(ln_without_I(m, fabs(q->delta)) - t.most) * prior_below(q, k + 1);
    else if (!add_panel(q, m, k, true, &I, &t))
      break;
  }
  ev_lanes sum = {0};
  for (int i = 0; i < t.count; i++) {
    t.ln[i] -= t.most;
    ev_exp(&t.ln[i], 1);
    sum += t.ln[i];
  }
  return t.most + log(ev_sum(&sum) + below);
}

/* The pair of thetas at distances low and high from the ends of a line of
** |delta| = d: the lesser is low, or 1 - high - d; the greater low + d, or
** 1 - high. */
static means means_at(double low, double high, double d) {
  double lesser = low < 0.5 ? gsl_cdf_ugaussian_Pinv(low) : gsl_cdf_ugaussian_Qinv(high + d);
  double greater = high > 0.5 ? gsl_cdf_ugaussian_Pinv(low + d) : gsl_cdf_ugaussian_Qinv(high);
  return (means){.low = low,
                 .high = high,
                 .d2 = gsl_pow_2(greater - lesser) / 8,
                 .s2 = gsl_pow_2(greater + lesser) / 8};
}

/* At the position t on the line, as a normal score of the share of it. */
static double ln_at(probit *q, double t) {
  double d = fabs(q->delta);
  means m = means_at(q->length * gsl_cdf_ugaussian_P(t), q->length * gsl_cdf_ugaussian_Q(t), d);
  m.counts[0] = q->both;
  m.counts[1] = q->neither;
  m.counts[2] = q->delta > 0 ? q->only_a : q->only_b;
  m.counts[3] = q->delta > 0 ? q->only_b : q->only_a;
  m.by_I = q->both / m.low + q->neither / m.high + m.counts[2] / d;
  return ln_over_rho(q, &m) - t * t / 2;
}

/* The lattice along a line: ln_at() at whole steps from where the last line
** peaked. */
typedef struct lattice {
  int first, last, peak;
  double ln[2 * STEPS + 1];
} lattice;

static void walk(probit *q, lattice *l) {
  l->first = l->last = l->peak = STEPS;
  l->ln[STEPS] = ln_at(q, q->origin);
  for (int side = 1; side >= -1; side -= 2) {
    int *end = side > 0 ? &l->last : &l->first;
    do {
      *end += side;
      l->ln[*end] = ln_at(q, q->origin + (*end - STEPS) * q->step);
      if (l->ln[*end] > l->ln[l->peak]) l->peak = *end;
    } while (l->ln[*end] > l->ln[l->peak] - CUT && *end > 0 && *end < 2 * STEPS);
  }
}

/* The step that suits a line which was walked with another.  Where the walk did
** not come to an end, one that would have reached it, were the line normal.
** Otherwise by how far the sums over every other point are apart: that is the
** error of steps twice as long, and its square bounds that of these, for halving
** a step at least squares what the trapezoid rule leaves out. */
static double suitable_step(const lattice *l, double step, double apart) {
  double drop = l->ln[l->peak] - fmax(l->ln[l->first], l->ln[l->last]);
  if (drop < CUT) return step * STEPS / 20 * sqrt(CUT / fmax(drop, 0.1));
  double factor = log(apart) / log(APART);
  return step * (factor < 1 ? fmax(0.4, factor) : fmin(1.2, sqrt(factor)));
}

/* ln of the integral along a line, walked in the steps that suited the last one,
** and again if they do not suit this one. */
static double ln_on_line(probit *q) {
  lattice l;
  double sum = 0, step = q->step;
  bool enough = false;
  for (int tries = 0; tries < 20 && !enough; tries++) {
    double sums[2] = {0, 0};
    walk(q, &l);
    for (int j = l.first; j <= l.last; j++) sums[j % 2] += exp(l.ln[j] - l.ln[l.peak]);
    sum = sums[0] + sums[1];
    step = q->step;
    double apart = fmax(1e-15, fabs(sums[0] - sums[1]) / sum);
    enough = apart < 4 * APART && l.first > 0 && l.last < 2 * STEPS;
    q->origin += (l.peak - STEPS) * step;
    q->step = fmin(WIDEST, suitable_step(&l, step, apart));
  }
  return l.ln[l.peak] + log(sum * step);
}

/* ln of the density of z, delta = tanh(z). */
static double ln_delta_density(double z, void *context) {
  probit *q = context;
  q->delta = tanh(z);
  q->length = 2 / (1 + exp(2 * fabs(z)));
  double by_z = q->length * (1 + fabs(q->delta));
  return ln_on_line(q) + log(q->length * by_z);
}

/* The Legendre polynomials P_0 to P_16 at x. */
static void legendre(double x, double p[EV_NODES + 1]) {
  p[0] = 1;
  p[1] = x;
  for (int k = 1; k < EV_NODES; k++) p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
}

/* The weights that integrate from -1 to x the polynomial through values at the
** nodes. */
static void weights_up_to(double x, double out[EV_NODES]) {
  double p[EV_NODES + 1], at[EV_NODES + 1];
  legendre(x, p);
  for (int j = 0; j < EV_NODES; j++) {
    legendre(ev_node(j), at);
    double sum = x + 1;
    for (int k = 1; k < EV_NODES; k++) sum += at[k] * (p[k + 1] - p[k - 1]);
    out[j] = sum / 2 * ev_weight(j);
  }
}

/* The lattices: where the cells are about as observed, and how sharply they are
** known there.  In the position on the line, given I; in x, given the position. */
static void set_lattices(probit *q, double cut) {
  for (int i = 0; i < EV_NODES; i++) q->weight[i / EV_LANES][i % EV_LANES] = ev_weight(i);
  double n = q->both + q->only_a + q->only_b + q->neither + 4;
  double p11 = (q->both + 1) / n, p10 = (q->only_a + 1) / n, p01 = (q->only_b + 1) / n;
  double p00 = (q->neither + 1) / n, I = fmin(p10, p01);
  double low = p11 + I, high = p00 + I;
  q->origin = gsl_cdf_ugaussian_Pinv(low / (low + high));
  double by_t = (low + high) * gsl_ran_ugaussian_pdf(q->origin);
  q->step = fmin(WIDEST, 1 / (by_t * sqrt(n * (1 / p11 + 1 / p00))));
  means m = means_at(low, high, fabs(p10 - p01));
  /* I is about e^x for x < 0, and about e^-x short of its most for x > 0: with 2^53
  ** questions it is told to -37 and 37, and to a standard deviation. */
  double least = -40, most = 40, close = fmin(1e-3, 1 / sqrt(n));
  while (most - least > close) {
    double mid = (least + most) / 2;
    find_way(&q->way, mid);
    if (at_end(q, &m) < I)
      least = mid;
    else
      most = mid;
  }
  double by_x =
      exp(-m.d2 * (1 + exp(-2 * least)) - m.s2 * (1 + exp(2 * least))) / (2 * M_PI * cosh(least));
  double sd = 1 / (by_x * sqrt(n * (1 / p11 + 1 / p10 + 1 / p01 + 1 / p00)));
  q->middle = least;
  /* The trapezoid rule leaves out exp(-2 pi^2 (sd/step)^2) where the posterior is
  ** nearly normal in x, and exp(-pi^2 / 2 step) where it is as wide as can be.
  ** Far out in delta x is narrower than here, the more so the farther the tail that
  ** is asked about: 0.6 sd suit a level of 95%. */
  double step = 0.6 * sd * sqrt(22 / cut);
  bool few = EVEN / 2 * step > 0.6 * PANEL;
  q->points = few ? POINTS / 2 : POINTS;
  q->width = fmin(PANEL, step * q->points * EV_LANES);
  q->at = REACH;
  q->known = -1;
  int even = q->points * EV_LANES;
  for (int i = 0; i < even; i++) {
    double weights[EV_NODES];
    weights_up_to(2 * (i + 1.0) / even - 1, weights);
    for (int j = 0; j < EV_NODES; j++) q->to_even[j][i / EV_LANES][i % EV_LANES] = weights[j];
  }
}

/* The posterior of delta, to be asked about a tail, or about its mass above 0. */
static void find(const double *c, double tail, bool ask_zero, ev_marginal *m) {
  probit q = {.both = c[0], .only_a = c[1], .only_b = c[2], .neither = c[3]};
  double n = c[0] + c[1] + c[2] + c[3], mean = (c[1] - c[2]) / (n + 4);
  double sd = sqrt(((c[1] + c[2] + 1) / (n + 4) - mean * mean) / (n + 4));
  set_lattices(&q, CUT - log(tail));
  /* The corner at 0 is of the order of the discordant pairs: with many there is
  ** none to see. */
  bool corner = ask_zero || c[1] + c[2] < 40;
  ev_marginal_find(m, &(ev_search){.ln_density = ln_delta_density,
                                   .context = &q,
                                   .start = atanh(mean),
                                   .width = sd / (1 - mean * mean) * sqrt(2 * (CUT - log(tail))),
                                   .least = -HUGE_VAL,
                                   .most = HUGE_VAL,
                                   .corner = corner ? 0 : HUGE_VAL,
                                   .cut = CUT - log(tail),
                                   .tolerance = fmax(1e-7, 1e-15 * n),
                                   .tail = tail,
                                   .budget = n < 1e8 ? 1600 : 130});
}

ev_interval ev_paired_diff(const double *c, const ev_options *options) {
  double ordered[] = {c[0], fmax(c[1], c[2]), fmin(c[1], c[2]), c[3]}, tail = ev_tail(options);
  ev_marginal m;
  find(ordered, tail, false, &m);
  double lo = tanh(ev_marginal_lower(&m, tail)), hi = tanh(ev_marginal_upper(&m, tail));
  if (c[1] == c[2]) return (ev_interval){-hi, hi};
  return c[1] > c[2] ? (ev_interval){lo, hi} : (ev_interval){-hi, -lo};
}

double ev_paired_prob_better(const double *c) {
  if (c[1] == c[2]) return 0.5;
  double ordered[] = {c[0], fmin(c[1], c[2]), fmax(c[1], c[2]), c[3]};
  ev_marginal m;
  find(ordered, 0.001, true, &m);
  /* Of the model with the fewer wins; where it costs nothing, both P and 1 - P
  ** are made exact complements. */
  double smaller = ev_marginal_above(&m, 0);
  if (smaller > 0x1p-10) smaller = 1 - (1 - smaller);
  return c[1] > c[2] ? 1 - smaller : smaller;
}

ev_interval ev_paired_diff_clt(const double *c, const ev_options *options) {
  double n = c[0] + c[1] + c[2] + c[3], mean = (c[1] - c[2]) / n;
  double variance = (c[1] + c[2]) / n - mean * mean;
  double half = gsl_cdf_ugaussian_Qinv(ev_tail(options)) * sqrt(fmax(0, variance) / n);
  return (ev_interval){mean - half, mean + half};
}
