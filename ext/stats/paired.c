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
** where theta_B lies on the line of that delta, both by the trapezoid rule on
** the whole axis, where everything falls off exponentially.  ev_marginal takes
** it from there.  With no discordant pair the density has a corner at
** delta = 0.
*/
#include "paired.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "marginal.h"

/* Points of the trapezoid rule on a panel, half as many on the widest; and panels
** either way of the middle. */
enum { EVEN = 8, REACH = 60, PANELS = 2 * REACH + 1 };

/* The widest panel, on which 16 nodes follow the rate to 1e-10. */
static const double PANEL = 0.8;

/* How far below their peaks the integrals over x and along a line go. */
static const double CUT = 19;

/* The nodes in x of a panel, with all of dI/dx that is the same for every pair of
** thetas: e^2x, e^-2x, and what does not depend on them times half the length. */
typedef struct nodes {
  double square[EV_NODES], inverse[EV_NODES], factor[EV_NODES];
} nodes;

/* A way from x = 0 to another x, in panels. */
enum { WAY = 8 };
typedef struct way {
  int panels;
  nodes nodes[WAY];
} way;

/* A panel of the lattice in x: its nodes, and the prior at its points. */
typedef struct panel {
  bool ready;
  nodes nodes;
  double ln_prior[EVEN];
} panel;

typedef struct probit {
  double both, only_a, only_b, neither;
  double middle, width;           /* of panel REACH, and of each */
  int even;                       /* points on each: EVEN, or half */
  double to_even[EVEN][EV_NODES]; /* from a rate at a panel's nodes to I at its points */
  int at;                         /* the panel where the last line peaked */
  way way;                        /* from x = 0 to the beginning of a panel, */
  int known;                      /* which is this one */
  double delta, length;           /* the line, and 1 - |delta| */
  double origin, step;            /* of the lattice in the logit of the position on it */
  int peak;                       /* where its last peak was, in steps */
  panel panels[PANELS];
} probit;

/* One pair of thetas. */
typedef struct means {
  double low, high; /* distances of the pair from the ends of its line */
  double d2, s2;    /* (mu_A - mu_B)^2 / 8 and (mu_A + mu_B)^2 / 8 */
} means;

static void set_nodes(nodes *n, double from, double to) {
  for (int i = 0; i < EV_NODES; i++) {
    double e = exp(from + (to - from) / 2 * (1 + ev_node(i)));
    n->square[i] = e * e;
    n->inverse[i] = 1 / (e * e);
    n->factor[i] = (to - from) / 2 * e / (M_PI * (1 + e * e));
  }
}

/* dI/dx at node i, times half the length of its panel. */
static double rate(const nodes *n, const means *m, int i) {
  double ln = -m->d2 * (1 + n->inverse[i]) - m->s2 * (1 + n->square[i]);
  return ln > -60 ? n->factor[i] * exp(ln) : 0;
}

/* A whole integral wants fewer nodes than I along a panel. */
static void find_way(way *w, double x) {
  w->panels = (int)fmin(WAY, 1 + fabs(x) / (2 * PANEL));
  for (int i = 0; i < w->panels; i++)
    set_nodes(&w->nodes[i], x * i / w->panels, x * (i + 1) / w->panels);
}

/* I at the end of a way; at its beginning, x = 0, it is low * high. */
static double at_end(const way *w, const means *m) {
  double I = m->low * m->high;
  for (int p = 0; p < w->panels; p++)
    for (int i = 0; i < EV_NODES; i++) I += ev_weight(i) * rate(&w->nodes[p], m, i);
  return fmax(0, I);
}

static double dot(const double *a, const double *b) {
  double p = 0, q = 0, r = 0, s = 0;
  for (int j = 0; j < EV_NODES; j += 4) {
    p += a[j] * b[j];
    q += a[j + 1] * b[j + 1];
    r += a[j + 2] * b[j + 2];
    s += a[j + 3] * b[j + 3];
  }
  return (p + q) + (r + s);
}

/* ln of a cell's share of the likelihood. */
static double ln_cell(double count, double p) {
  return count > 0 ? count * log(fmax(p, 1e-300)) : 0;
}

/* Where panel k begins. */
static double beginning(const probit *q, int k) {
  return q->middle + (k - REACH - 0.5) * q->width;
}

/* (1+rho)^3 (1-rho) drho = e^4x / (1+e^2x)^6 dx, up to a constant. */
static const panel *panel_at(probit *q, int k) {
  panel *p = &q->panels[k];
  if (p->ready) return p;
  double from = beginning(q, k);
  set_nodes(&p->nodes, from, from + q->width);
  for (int i = 0; i < q->even; i++) {
    double x = from + q->width * (i + 1) / q->even;
    p->ln_prior[i] = 4 * x - 6 * log1p(exp(2 * x));
  }
  p->ready = true;
  return p;
}

/* A sum of exponentials that is kept relative to its largest term. */
typedef struct ln_sum {
  double best, sum;
} ln_sum;

/* Adds the points of panel k in the order of the walk, and moves *I, which is at
** the end where it comes in, to the other.  Says whether to walk on. */
static bool add_panel(probit *q, const means *m, int k, bool backward, double *I, ln_sum *total) {
  const panel *p = panel_at(q, k);
  double f[EV_NODES], whole = 0;
  for (int i = 0; i < EV_NODES; i++) {
    f[i] = rate(&p->nodes, m, i);
    whole += ev_weight(i) * f[i];
  }
  double begin = backward ? *I - whole : *I;
  *I = backward ? begin : begin + whole;
  for (int n = 0; n < q->even; n++) {
    int i = backward ? q->even - 1 - n : n;
    double J = begin + dot(q->to_even[i], f);
    double here = ln_cell(q->both, m->low - J) + ln_cell(q->neither, m->high - J) +
                  ln_cell(q->only_a, fmax(q->delta, 0) + J) +
                  ln_cell(q->only_b, fmax(-q->delta, 0) + J) + p->ln_prior[i];
    if (here > total->best) {
      total->sum = total->sum * exp(total->best - here) + 1;
      total->best = here;
      q->at = k;
    } else {
      if (here < total->best - CUT) return false;
      total->sum += exp(here - total->best);
    }
  }
  return true;
}

/* ln of the likelihood integrated over rho: panels either way from where the
** last line peaked, until nothing is left. */
static double ln_over_rho(probit *q, const means *m) {
  ln_sum total = {-HUGE_VAL, 0};
  int start = q->at;
  if (q->known != start) find_way(&q->way, beginning(q, start));
  q->known = start;
  double begin = at_end(&q->way, m), I = begin;
  for (int k = start; k < PANELS && add_panel(q, m, k, false, &I, &total);) k++;
  I = begin;
  for (int k = start - 1; k >= 0 && add_panel(q, m, k, true, &I, &total);) k--;
  return total.best + log(total.sum);
}

/* The pair of thetas at distances low and high from the ends of a line of
** |delta| = d: the lesser is low, or 1 - high - d; the greater low + d, or
** 1 - high. */
static means means_at(double low, double high, double d) {
  double lesser = low < 0.5 ? gsl_cdf_ugaussian_Pinv(low) : gsl_cdf_ugaussian_Qinv(high + d);
  double greater = high > 0.5 ? gsl_cdf_ugaussian_Pinv(low + d) : gsl_cdf_ugaussian_Qinv(high);
  return (means){low, high, gsl_pow_2(greater - lesser) / 8, gsl_pow_2(greater + lesser) / 8};
}

/* At a logit of the position on the line. */
static double ln_at(probit *q, double t) {
  double share = 1 / (1 + exp(-t)), rest = 1 / (1 + exp(t));
  means m = means_at(q->length * share, q->length * rest, fabs(q->delta));
  return ln_over_rho(q, &m) + log(q->length * share * rest);
}

static double ln_on_line(int j, void *context) {
  probit *q = context;
  return ln_at(q, q->origin + j * q->step);
}

/* ln of the density of z, delta = tanh(z). */
static double ln_delta_density(double z, void *context) {
  probit *q = context;
  q->delta = tanh(z);
  q->length = 2 / (1 + exp(2 * fabs(z)));
  double by_z = q->length * (1 + fabs(q->delta));
  return ev_ln_sum(ln_on_line, q, -1000, 1000, &q->peak, CUT) + log(by_z);
}

/* The weights that integrate from -1 to x the polynomial through values at the
** nodes. */
static void weights_up_to(double x, double out[EV_NODES]) {
  double p[EV_NODES + 1], at[EV_NODES + 1];
  ev_legendre(x, p);
  for (int j = 0; j < EV_NODES; j++) {
    ev_legendre(ev_node(j), at);
    double sum = x + 1;
    for (int k = 1; k < EV_NODES; k++) sum += at[k] * (p[k + 1] - p[k - 1]);
    out[j] = sum / 2 * ev_weight(j);
  }
}

/* The lattices: where the cells are about as observed, and how sharply they are
** known there.  In the position on the line, given I; in x, given the position. */
static void set_lattices(probit *q) {
  double n = q->both + q->only_a + q->only_b + q->neither + 4;
  double p11 = (q->both + 1) / n, p10 = (q->only_a + 1) / n, p01 = (q->only_b + 1) / n;
  double p00 = (q->neither + 1) / n, I = fmin(p10, p01);
  double low = p11 + I, high = p00 + I, by_logit = low * high / (low + high);
  q->step = fmin(0.3, 0.7 / (by_logit * sqrt(n * (1 / p11 + 1 / p00))));
  q->origin = log(low / high);
  means m = means_at(low, high, fabs(p10 - p01));
  double least = -20, most = 10;
  while (most - least > 1e-3) {
    double mid = (least + most) / 2;
    find_way(&q->way, mid);
    if (at_end(&q->way, &m) < I)
      least = mid;
    else
      most = mid;
  }
  double by_x =
      exp(-m.d2 * (1 + exp(-2 * least)) - m.s2 * (1 + exp(2 * least))) / (2 * M_PI * cosh(least));
  double sd = 1 / (by_x * sqrt(n * (1 / p11 + 1 / p10 + 1 / p01 + 1 / p00)));
  q->middle = least;
  /* The trapezoid rule leaves out exp(-2 pi^2 (sd/step)^2) where the posterior is
  ** nearly normal in x, and exp(-pi^2 / 2 step) where it is as wide as can be. */
  q->width = fmin(PANEL, 0.8 * EVEN * sd);
  q->even = 0.4 * EVEN * sd < PANEL ? EVEN : EVEN / 2;
  q->at = REACH;
  q->known = -1;
  for (int i = 0; i < q->even; i++) weights_up_to(2 * (i + 1.0) / q->even - 1, q->to_even[i]);
}

/* The posterior of delta, to be asked about a tail, or about its mass above 0. */
static void find(const double *c, double tail, bool ask_zero, ev_marginal *m) {
  probit q = {.both = c[0], .only_a = c[1], .only_b = c[2], .neither = c[3]};
  double n = c[0] + c[1] + c[2] + c[3], mean = (c[1] - c[2]) / (n + 4);
  double sd = sqrt(((c[1] + c[2] + 1) / (n + 4) - mean * mean) / (n + 4));
  set_lattices(&q);
  /* The corner at 0 is of the order of the discordant pairs: with many there is
  ** none to see. */
  bool corner = ask_zero || c[1] + c[2] < 40;
  ev_marginal_find(m, &(ev_search){.ln_density = ln_delta_density,
                                   .context = &q,
                                   .start = atanh(mean),
                                   .width = fmin(0.75, 1.1 * sd / (1 - mean * mean) *
                                                           sqrt(2 * (19 - log(tail)))),
                                   .least = -HUGE_VAL,
                                   .most = HUGE_VAL,
                                   .corner = corner ? 0 : HUGE_VAL,
                                   .cut = 19 - log(tail),
                                   .tolerance = fmax(1e-6, 1e-15 * n),
                                   .tail = tail,
                                   .budget = n < 1e8 ? 100 : 8});
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
