/*
** Planning for two models on different questions: the chance that diff_ci leaves 0 out.
**
** It does when P(theta_A > theta_B) is beyond either tail.  That rises with k_a and falls
** with k_b, so that for each k_a the k_b at which A is called better are those up to a
** bound, and those at which B is are those from another bound on.  Each bound is a real
** number, at which P is the tail: the posterior of a real k is a Beta too, from k = -1,
** which is 0, to n + 1, which is 1.  Real bounds are smooth in k_a: beyond 64 counts they
** are interpolated, and P is asked again where that leaves open on which side of a whole
** number they are.  So the power is a sum over the k of the model with fewer of them, of a
** binomial tail of the other's.
**
** Where both models have more than 20,000 counts that matter, the sum is over every so
** manyth, with the bounds less a half: the saw-tooth that whole bounds make is then
** averaged over.
*/
#include "planning.h"

#include <assert.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "binomial.h"
#include "chebyshev.h"
#include "unpaired.h"

static const double MOST_DIFF_TERMS = 20000;

/* The model whose counts are summed over, and the other. */
typedef struct contest {
  double n, other_n;
  ev_point p, other_p;
  double tail;
} contest;

/* P(theta > theta of the other) at real counts; the smaller of it and its complement is
** good.  As a normal deviate it is nearly straight in either count. */
static double deviate_at(const contest *c, double k, double other_k) {
  ev_beta mine = ev_beta_make(k + 1, c->n - k + 1);
  ev_beta others = ev_beta_make(other_k + 1, c->other_n - other_k + 1);
  ev_point p = ev_beta_prob_better(&mine, &others);
  return p.x < p.y ? gsl_cdf_ugaussian_Pinv(p.x) : gsl_cdf_ugaussian_Qinv(p.y);
}

/* The other's real count at which that deviate is so much; it falls with the count.  The
** secant method within a bracket. */
static double bound_at(const contest *c, double k, double deviate) {
  double least = -1, most = c->other_n + 1, rate = (k + 1) / (c->n + 2);
  double sd = sqrt(rate * (1 - rate) * (1 / (c->n + 2) + 1 / (c->other_n + 2)));
  double x = (c->other_n + 2) * (rate - deviate * sd) - 1, last = NAN, f_last = NAN;
  double near = 1e-8 + 1e-14 * c->other_n; /* what P, and a count of so many, can tell */
  for (int i = 0; i < 100; i++) {
    if (!(x > least && x < most)) x = (least + most) / 2;
    double f = deviate_at(c, k, x) - deviate;
    if (isnan(f)) return NAN;
    if (f > 0)
      least = x;
    else
      most = x;
    /* The first slope is the normal one; where P is nothing there is none. */
    double slope = i ? (f - f_last) / (x - last) : -1 / ((c->other_n + 2) * sd);
    double step = isfinite(slope) && isfinite(f) ? f / slope : HUGE_VAL;
    if (fabs(step) < near || most - least < near) return x;
    last = x;
    f_last = f;
    x -= step;
  }
  return NAN;
}

/*
** Both bounds over a window of counts
*/
enum { BOUND_TERMS = 24 };
static const double FEW_COUNTS = 64;

typedef struct bounds {
  bool interpolated;
  double centre, half; /* of the window */
  double series[2][BOUND_TERMS];
} bounds;

static void find_bounds(const contest *c, ev_window w, double deviate, bounds *b) {
  double roots[BOUND_TERMS], values[2][BOUND_TERMS];
  b->interpolated = w.most - w.least > FEW_COUNTS;
  b->centre = (w.least + w.most) / 2;
  b->half = (w.most - w.least) / 2;
  if (!b->interpolated) return;
  for (int i = 0; i < BOUND_TERMS; i++) {
    roots[i] = cos(M_PI * (i + 0.5) / BOUND_TERMS);
    for (int side = 0; side < 2; side++)
      values[side][i] = bound_at(c, b->centre + b->half * roots[i], side ? -deviate : deviate);
  }
  for (int side = 0; side < 2; side++)
    ev_chebyshev_from_roots(BOUND_TERMS, roots, values[side], b->series[side]);
}

static double bound_of(const contest *c, const bounds *b, double k, double deviate, int side) {
  if (!b->interpolated) return bound_at(c, k, side ? -deviate : deviate);
  double x = (k - b->centre) / b->half, bound;
  ev_chebyshev_at(b->series[side], BOUND_TERMS - 1, 1, &x, &bound);
  return bound;
}

/* Whether a count that the bound leaves open is beyond it. */
static double settle(const contest *c, double k, double bound, double deviate, int side) {
  double whole = nearbyint(bound);
  if (fabs(bound - whole) > 1e-3 || whole < 0 || whole > c->other_n)
    return side ? ceil(bound) : floor(bound);
  double f = deviate_at(c, k, whole);
  if (side) return f <= -deviate ? whole : whole + 1;
  return f >= deviate ? whole : whole - 1;
}

/*
** The power
*/
static double sum_power(const contest *c, bool averaged) {
  ev_window w = ev_binomial_window(c->n, c->p);
  double stride = averaged ? fmax(1, floor(w.sd / 4)) : 1, sum = 0, mass = 0;
  double deviate = gsl_cdf_ugaussian_Qinv(c->tail);
  bounds b;
  find_bounds(c, w, deviate, &b);
  for (double k = w.least; k <= w.most; k += stride) {
    double chance = ev_binomial_pmf(k, c->n, c->p);
    if (chance < 1e-18) continue;
    double below = bound_of(c, &b, k, deviate, 0), above = bound_of(c, &b, k, deviate, 1);
    if (isnan(below) || isnan(above)) return NAN;
    below = averaged ? below - 0.5 : settle(c, k, below, deviate, 0);
    above = averaged ? above + 0.5 : settle(c, k, above, deviate, 1);
    double power = ev_binomial_at_most(below, c->other_n, c->other_p) +
                   ev_binomial_at_least(above, c->other_n, c->other_p);
    sum += chance * power;
    mass += chance;
  }
  return fmin(1, sum / mass);
}

/* The model with fewer counts that matter comes first. */
static contest make_contest(double n_a, double n_b, double p_a, double p_b,
                            const ev_options *options) {
  contest c = {n_a, n_b, {p_a, 1 - p_a}, {p_b, 1 - p_b}, ev_tail(options)};
  if (ev_binomial_window(n_a, c.p).sd <= ev_binomial_window(n_b, c.other_p).sd) return c;
  return (contest){n_b, n_a, c.other_p, c.p, c.tail};
}

static double diff_power_of(const contest *c) {
  ev_window w = ev_binomial_window(c->n, c->p);
  return sum_power(c, w.most - w.least > MOST_DIFF_TERMS);
}

ev_status ev_power_diff(double n_a, double n_b, double p_a, double p_b, const ev_options *options,
                        double *power) {
  contest c = make_contest(n_a, n_b, p_a, p_b, options);
  *power = diff_power_of(&c);
  return isnan(*power) ? EV_NOT_CONVERGED : EV_OK;
}

/*
** How many questions
*/
typedef struct wish {
  double p_a, p_b, power;
  const ev_options *options;
} wish;

static bool averaged_suffices(const wish *w, double n) {
  contest c = make_contest(n, n, w->p_a, w->p_b, w->options);
  return sum_power(&c, true) >= w->power;
}

static bool suffices(const wish *w, double n) {
  contest c = make_contest(n, n, w->p_a, w->p_b, w->options);
  return diff_power_of(&c) >= w->power;
}

/* The textbook's number, to start from. */
static double normal_n(const wish *w) {
  double z = gsl_cdf_ugaussian_Qinv(ev_tail(w->options)) + gsl_cdf_ugaussian_Pinv(w->power);
  double spread = w->p_a * (1 - w->p_a) + w->p_b * (1 - w->p_b), apart = w->p_a - w->p_b;
  return fmax(1, fmin(EV_MOST_QUESTIONS, ceil(z * fmax(z, 0) * spread / (apart * apart))));
}

/* The least n with the averaged power, which rises with n. */
static double diff_crossing(const wish *w) {
  double least = floor(normal_n(w) * 0.9), most = fmin(EV_MOST_QUESTIONS, ceil(least * 1.2) + 4);
  while (most < EV_MOST_QUESTIONS && !averaged_suffices(w, most)) {
    least = most;
    most = fmin(EV_MOST_QUESTIONS, most * 2);
  }
  if (most == EV_MOST_QUESTIONS && !averaged_suffices(w, most)) return HUGE_VAL;
  while (least > 0 && averaged_suffices(w, least)) {
    most = least;
    least = floor(least / 2);
  }
  while (most - least > 1) {
    double middle = floor((least + most) / 2);
    if (averaged_suffices(w, middle))
      most = middle;
    else
      least = middle;
  }
  return most;
}

/* Up to so many questions the saw-tooth is looked through around the crossing; beyond, it is
** less than 0.005 of the power. */
static const double FEW_QUESTIONS = 1000;

ev_status ev_plan_diff(double p_a, double p_b, double power, const ev_options *options,
                       ev_host host, double *n) {
  wish w = {p_a, p_b, power, options};
  assert(p_a != p_b);
  *n = diff_crossing(&w);
  if (isinf(*n) || *n > FEW_QUESTIONS) return EV_OK;
  double reach = ceil(8 + 0.7 * sqrt(*n)), least = fmax(1, *n - reach);
  for (*n += reach; *n >= least && suffices(&w, *n); --*n)
    if (host.interrupted && host.interrupted(host.context)) return EV_INTERRUPTED;
  ++*n;
  return EV_OK;
}
