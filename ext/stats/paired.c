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
** (0, min(low, high)) gives them all, and only sums and differences that are
** harmless.  By Plackett's identity (Biometrika 41 (1954) 351-360) its
** derivative by rho is minus the normal density; with rho = cos(psi) that is
**
**     dI/dpsi = exp(-D^2 / 8 sin^2(psi/2) - S^2 / 8 cos^2(psi/2)) / 2 pi,
**
** D and S being the difference and the sum of the means: one exponential a
** node, and I = 0 at psi = 0.
**
** The density of delta at a point is then an integral over psi, by
** Gauss-Legendre panels that carry I along, within one over where theta_B lies
** on the line of that delta, by the trapezoid rule on its logit.  ev_marginal
** takes it from there.  With no discordant pair the density has a corner at
** delta = 0.
*/
#include "paired.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "marginal.h"

enum { EVEN = 24, MOST_POINTS = 40 * EV_NODES };

/* How far below their peaks the integrals over psi and along a line go. */
static const double CUT = 21;

typedef struct probit {
  double both, only_a, only_b, neither;
  /* From values at a panel's nodes to its integrals up to nodes, or even points. */
  double to_node[EV_NODES][EV_NODES], to_even[EVEN][EV_NODES];
  double from, to;      /* the part of (0, pi) that mattered last */
  double delta, length; /* the line, and 1 - |delta| */
  double origin, step;  /* of the lattice in the logit of the position on it */
  int peak;             /* where its last peak was, in steps */
} probit;

/* One pair of thetas. */
typedef struct means {
  double low, high; /* distances of the pair from the ends of its line */
  double d2, s2;    /* (mu_A - mu_B)^2 / 8 and (mu_A + mu_B)^2 / 8 */
} means;

/* dI/dpsi */
static double rate(const means *m, double psi) {
  double s = sin(psi / 2), c = cos(psi / 2);
  return exp(-m->d2 / (s * s) - m->s2 / (c * c)) / (2 * M_PI);
}

static double panel_integral(const means *m, double from, double to) {
  double sum = 0, mid = (from + to) / 2, half = (to - from) / 2;
  for (int i = 0; i < EV_NODES; i++) sum += ev_weight(i) * rate(m, mid + half * ev_node(i));
  return sum * half;
}

/* The rate is flat near 0 and near pi, and rises from nothing at about this
** distance on: e^-36 of its scale there.  Panels that grow threefold from it
** follow the rise. */
static double rise(double square) {
  return fmax(sqrt(square) / 3, 1e-12);
}

/* I at the beginning of the window: 0 at 0, low * high at pi/2, where rho = 0
** and the models are independent, and from there by panels that grow threefold
** toward either end. */
static double integral_before(const means *m, double from) {
  if (from <= 0) return 0;
  double I = m->low * m->high, to = M_PI_2;
  for (double next = fmax(from, to / 3); from < to; to = next, next = fmax(from, to / 3))
    I -= panel_integral(m, next, to);
  to = M_PI_2;
  for (double next = fmax(M_PI - from, to / 3); M_PI - from < to;
       to = next, next = fmax(M_PI - from, to / 3))
    I += panel_integral(m, M_PI - to, M_PI - next);
  return I;
}

/* Points in psi with the weights of an integral over it, and I at each. */
typedef struct points {
  int count;
  double psi[MOST_POINTS], weight[MOST_POINTS], I[MOST_POINTS];
} points;

static double dot(const double *a, const double *b) {
  double part[4] = {0, 0, 0, 0};
  for (int j = 0; j < EV_NODES; j++) part[j % 4] += a[j] * b[j];
  return part[0] + part[1] + (part[2] + part[3]);
}

/* A narrow window inside (0, pi), where the rate is smooth: one panel carries I,
** and the trapezoid rule integrates, since all is negligible at the ends. */
static void spread_evenly(const probit *q, const means *m, points *p) {
  double f[EV_NODES], half = (q->to - q->from) / 2, mid = (q->to + q->from) / 2;
  double before = integral_before(m, q->from);
  for (int i = 0; i < EV_NODES; i++) f[i] = half * rate(m, mid + half * ev_node(i));
  p->count = EVEN;
  for (int i = 0; i < EVEN; i++) {
    p->psi[i] = q->from + (i + 0.5) * 2 * half / EVEN;
    p->weight[i] = 2 * half / EVEN;
    p->I[i] = before + dot(q->to_even[i], f);
  }
}

/* A panel of Gauss-Legendre nodes from where the last one ended. */
static void add_panel(const probit *q, const means *m, double from, double to, double *I,
                      points *p) {
  double f[EV_NODES], half = (to - from) / 2, mid = (to + from) / 2, before = *I;
  for (int i = 0; i < EV_NODES; i++) {
    f[i] = half * rate(m, mid + half * ev_node(i));
    *I += ev_weight(i) * f[i];
  }
  for (int i = 0; i < EV_NODES; i++, p->count++) {
    p->psi[p->count] = mid + half * ev_node(i);
    p->weight[p->count] = half * ev_weight(i);
    p->I[p->count] = before + dot(q->to_node[i], f);
  }
}

/* A window that reaches over more than a factor of three, or touches an end:
** panels that grow threefold toward the middle of (0, pi). */
static void spread_in_panels(const probit *q, const means *m, points *p) {
  double I = integral_before(m, q->from), at = q->from;
  double least = fmax(q->from, rise(m->d2)), most = fmin(q->to, M_PI - rise(m->s2));
  p->count = 0;
  if (at < least) {
    add_panel(q, m, at, fmin(least, q->to), &I, p);
    at = least;
  }
  while (at < q->to && p->count < MOST_POINTS - 2 * EV_NODES) {
    double far = M_PI - at, next = at < M_PI_2 ? fmin(3 * at, M_PI_2) : M_PI - far / 3;
    next = next > 0.8 * most ? fmin(next, most) : next;
    if (at >= most) next = q->to;
    next = fmin(next, q->to);
    add_panel(q, m, at, next, &I, p);
    at = next;
  }
}

/* ln of a cell's share of the likelihood. */
static double ln_cell(double count, double p) {
  return count > 0 ? count * log(fmax(p, 1e-300)) : 0;
}

/* ln of the likelihood integrated over rho: sampled on the window in psi, which
** is moved and resized until it fits. */
static double ln_over_rho(probit *q, const means *m) {
  points p;
  double ln_f[MOST_POINTS];
  for (int tries = 0;; tries++) {
    bool narrow = q->from > 0 && q->to < fmin(M_PI, 3 * q->from);
    if (narrow)
      spread_evenly(q, m, &p);
    else
      spread_in_panels(q, m, &p);
    double best = -HUGE_VAL, sum = 0;
    for (int i = 0; i < p.count; i++) {
      double s = sin(p.psi[i] / 2), c = cos(p.psi[i] / 2), I = p.I[i];
      /* (1+rho)^3 (1-rho) drho = c^7 s^3 dpsi, up to a constant */
      double prior = p.weight[i] * c * gsl_pow_3(s * c * c);
      ln_f[i] = ln_cell(q->both, m->low - I) + ln_cell(q->neither, m->high - I) +
                ln_cell(q->only_a, fmax(q->delta, 0) + I) +
                ln_cell(q->only_b, fmax(-q->delta, 0) + I) + log(prior);
      best = fmax(best, ln_f[i]);
    }
    int first = p.count, last = 0;
    for (int i = 0; i < p.count; i++) {
      if (ln_f[i] < best - CUT) continue;
      first = i < first ? i : first;
      last = i;
      sum += exp(ln_f[i] - best);
    }
    double width = q->to - q->from;
    bool fits_left = first > 0 || q->from <= 0, fits_right = last < p.count - 1 || q->to >= M_PI;
    if (!fits_left) q->from = q->from < 0.8 * width ? 0 : q->from - 0.5 * width;
    if (!fits_right) q->to = M_PI - q->to < 0.8 * width ? M_PI : q->to + 0.5 * width;
    if ((!fits_left || !fits_right) && tries < 50) continue;
    /* The next line wants about this window too. */
    if (first > 0) q->from = fmax(0, p.psi[first - 1] - 0.02 * width);
    if (last < p.count - 1) q->to = fmin(M_PI, p.psi[last + 1] + 0.02 * width);
    if (last - first > EV_NODES || tries >= 50) return best + log(sum);
  }
}

/* At a logit of the position on the line. */
static double ln_at(probit *q, double t) {
  double share = 1 / (1 + exp(-t)), rest = 1 / (1 + exp(t)), d = fabs(q->delta);
  means m = {.low = q->length * share, .high = q->length * rest};
  /* The greater theta is low + d, or 1 - high; the lesser low, or 1 - high - d. */
  double lesser = m.low < 0.5 ? gsl_cdf_ugaussian_Pinv(m.low) : gsl_cdf_ugaussian_Qinv(m.high + d);
  double greater =
      m.high > 0.5 ? gsl_cdf_ugaussian_Pinv(m.low + d) : gsl_cdf_ugaussian_Qinv(m.high);
  m.d2 = gsl_pow_2(greater - lesser) / 8;
  m.s2 = gsl_pow_2(greater + lesser) / 8;
  return ln_over_rho(q, &m) + log(q->length * share * rest);
}

static double ln_on_line(int j, void *context) {
  probit *q = context;
  return ln_at(q, q->origin + j * q->step);
}

/* ln of the density of z, delta = sin(z). */
static double ln_delta_density(double z, void *context) {
  probit *q = context;
  q->delta = sin(z);
  q->length = 2 * gsl_pow_2(sin((M_PI_2 - fabs(z)) / 2));
  return ev_ln_sum(ln_on_line, q, -10000, 10000, &q->peak, CUT) + log(cos(z));
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

static void prepare(probit *q) {
  for (int i = 0; i < EV_NODES; i++) weights_up_to(ev_node(i), q->to_node[i]);
  for (int i = 0; i < EVEN; i++) weights_up_to((2 * i + 1.0) / EVEN - 1, q->to_even[i]);
}

static void find(const double *c, double tail, ev_marginal *m) {
  probit q = {.both = c[0], .only_a = c[1], .only_b = c[2], .neither = c[3], .from = 0, .to = M_PI};
  double n = c[0] + c[1] + c[2] + c[3], mean = (c[1] - c[2]) / (n + 4);
  double sd = sqrt(((c[1] + c[2] + 1) / (n + 4) - mean * mean) / (n + 4));
  prepare(&q);
  /* How sharply the position on the line is known, given I and delta, where the
  ** cells are about as observed. */
  double p11 = (c[0] + 1) / (n + 4), p00 = (c[3] + 1) / (n + 4),
         I = (fmin(c[1], c[2]) + 1) / (n + 4);
  double low = p11 + I, high = p00 + I, by_logit = low * high / (low + high);
  double sharpness = (n + 4) * gsl_pow_2(by_logit) * (1 / p11 + 1 / p00);
  q.step = fmin(0.35, 0.8 / sqrt(sharpness));
  q.origin = log(low / high);
  q.peak = 0;
  ev_marginal_find(m, &(ev_search){.ln_density = ln_delta_density,
                                   .context = &q,
                                   .start = asin(mean),
                                   .width = fmin(0.8, 1.05 * sd * sqrt(2 * (22 - log(tail)))),
                                   .least = -M_PI_2,
                                   .most = M_PI_2,
                                   .corner = 0,
                                   .cut = 22 - log(tail),
                                   .tolerance = 1e-8,
                                   .tail = tail});
}

ev_interval ev_paired_diff(const double *c, const ev_options *options) {
  double ordered[] = {c[0], fmax(c[1], c[2]), fmin(c[1], c[2]), c[3]}, tail = ev_tail(options);
  ev_marginal m;
  find(ordered, tail, &m);
  double lo = sin(ev_marginal_lower(&m, tail)), hi = sin(ev_marginal_upper(&m, tail));
  if (c[1] == c[2]) return (ev_interval){-hi, hi};
  return c[1] > c[2] ? (ev_interval){lo, hi} : (ev_interval){-hi, -lo};
}

double ev_paired_prob_better(const double *c) {
  if (c[1] == c[2]) return 0.5;
  double ordered[] = {c[0], fmin(c[1], c[2]), fmax(c[1], c[2]), c[3]};
  ev_marginal m;
  find(ordered, 0.001, &m);
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
