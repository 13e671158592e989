/*
** The difference of two models on different questions, theta_A - theta_B
**
** Each bound is found by Newton's method on the chance that A is ahead of B by more than x.
** On the line along which A is ahead by x, from the point (a0, b0) up to (a1, b1), that
** chance is
**
**     the integral of the density of A times P(b0 < B < b)
**       + P(a0 < A < a1) P(B < b0) + P(A > a1) P(B < b1),
**
** and it falls, as x grows, by the integral of the densities' product.  Both come from the
** same nodes, and all their parts are positive, so that a small chance keeps its digits.
** The line ends where A or B does, or where the product has become negligible: what is
** left out is then the integral, beyond, of one density times a tail of the other, which
** is smaller than the other density where it falls.
**
** Along the line the product is one of four powers, of the distances of A and B from 0
** and from 1, and log-concave.  Each density is told by how far a point is from the
** product's peak, its slope there apart: powers of any size then lose no digits.
*/
#include "unpaired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "beta.h"
#include "contrast.h"
#include "lanes.h"
#include "marginal.h"
#include "normal.h"
#include "root.h"

/* The line along which A is `ahead` of B. */
typedef struct diff_line {
  ev_beta a, b;
  double ahead, length;
  double peak; /* logit of the share at the last line's peak */
} diff_line;

/* The lead is told by its z = 2 artanh, which is the logit of (1 + ahead) / 2, so that a
** line is not too short to have digits. */
static double diff_at(double z) {
  return tanh(z / 2);
}

static void set_diff_line(diff_line *l, double z) {
  l->ahead = diff_at(z);
  l->length = fabs(z) < 1 ? 1 - fabs(l->ahead) : 2 / (1 + exp(fabs(z)));
}

/* A and B where a line is divided: share.x of it lies before, share.y behind.  No distance
** from 0 or 1 is a difference. */
typedef struct diff_pair {
  ev_point a, b;
} diff_pair;

static diff_pair diff_pair_at(const diff_line *l, ev_point share) {
  double low = l->length * share.x, high = l->length * share.y;
  double ahead = fmax(0, l->ahead), behind = fmax(0, -l->ahead);
  return (diff_pair){{ahead + low, behind + high}, {behind + low, ahead + high}};
}

/* The product of (1 + by v)^power over the lanes, which are A, 1 - A, B and 1 - B. */
typedef struct diff_powers {
  ev_lanes power, by;
} diff_powers;

/* About the pair p, v being a share of the line. */
static void set_diff_powers(const diff_line *l, const diff_pair *p, diff_powers *f) {
  f->power = (ev_lanes){l->a.a - 1, l->a.b - 1, l->b.a - 1, l->b.b - 1};
  f->by = l->length * (ev_lanes){1 / p->a.x, -1 / p->a.y, 1 / p->b.x, -1 / p->b.y};
  /* At an end of the line a distance may be 0 whose power is none. */
  for (int i = 0; i < EV_LANES; i++)
    if (f->power[i] == 0) f->by[i] = 0;
}

/* ln of the product, v being a way of its own for each. */
EV_WIDE static double ln_diff_powers(const ev_lanes *power, const ev_lanes *v) {
  ev_lanes ln = *v;
  ev_log1p(&ln, 1);
  ln *= *power;
  return ev_sum(&ln);
}

/* The slopes at v = 0 of ln of A's density, of B's and of their product, and the curvature of
** the last with the sign changed. */
static double a_slope(const diff_powers *f) {
  return f->power[0] * f->by[0] + f->power[1] * f->by[1];
}

static double b_slope(const diff_powers *f) {
  return f->power[2] * f->by[2] + f->power[3] * f->by[3];
}

static double diff_slope(const diff_powers *f) {
  ev_lanes each = f->power * f->by;
  return ev_sum(&each);
}

static double diff_curvature(const diff_powers *f) {
  ev_lanes each = f->power * f->by * f->by;
  return ev_sum(&each);
}

/* The share at which the product has its peak, or next to which, and the pair and the
** powers there.  The slope falls along the line: the peak is at an end, or Newton's method
** on the logit of the share finds it, or bisection where that leads out.  Anything within a
** hundredth of a standard deviation will do.  With 2^53 questions a side a share is 5e-17 at
** the least. */
static const double DIFF_ENDS = 40;
enum { DIFF_PEAK_STEPS = 100 };

static ev_point diff_peak(diff_line *l, diff_pair *p, diff_powers *f) {
  ev_bracket in = {-DIFF_ENDS, DIFF_ENDS};
  for (int end = 0; end < 2; end++) {
    ev_point share = {end, 1 - end};
    *p = diff_pair_at(l, share);
    set_diff_powers(l, p, f);
    if (end ? diff_slope(f) >= 0 : diff_slope(f) <= 0) return share;
  }
  for (int i = 0;; i++) {
    ev_point share = ev_at_logit(l->peak);
    double by_logit = share.x * share.y;
    *p = diff_pair_at(l, share);
    set_diff_powers(l, p, f);
    double slope = diff_slope(f) * by_logit, curvature = diff_curvature(f) * by_logit * by_logit;
    double bend = curvature - slope * (share.y - share.x);
    double wish = bend > 0 ? l->peak + slope / bend : NAN;
    double next = ev_bracket_next(&in, l->peak, !(slope > 0), wish);
    if (slope * slope <= 1e-4 * curvature || in.high - in.low < 1e-9 || i == DIFF_PEAK_STEPS)
      return share;
    l->peak = next;
  }
}

/* Up to this degree of both densities together one panel integrates them exactly over all
** of the line: a density times the integral of another is of one degree more. */
static const double DIFF_EXACT_DEGREE = 2 * EV_NODES - 2;

/* How far from the peak, at most `most`, which is the end of the line, the product has
** become negligible: anything from e^-36 to e^-48 of the peak will do.  Were ln of it a
** parabola, the first try would; else Newton's method on ln of what is left of the line,
** where a power that ends there is a straight line, or bisection. */
static double diff_reach(const diff_powers *f, double side, double most) {
  double down = fmax(0, -side * diff_slope(f)), curvature = diff_curvature(f);
  double reach = 84 / (down + sqrt(down * down + 84 * curvature)), near = 0, far = most;
  if (most == 0 || ev_sum(&f->power) <= DIFF_EXACT_DEGREE) return most;
  if (reach >= most) reach = 0.9 * most;
  for (int i = 0; i < DIFF_PEAK_STEPS; i++) {
    ev_lanes v = side * reach * f->by, falls = f->power * f->by / (1 + v);
    double drop = -ln_diff_powers(&f->power, &v), left = most - reach;
    if (drop > EV_INNER_LN_DROP && drop < 48) return reach;
    if (drop <= EV_INNER_LN_DROP)
      near = reach;
    else
      far = reach;
    if (most - near < 1e-6 * most) return most;
    double rate = fmax(0.5, -side * ev_sum(&falls) * left);
    reach = most - left * exp((drop - 42) / rate);
    if (!(reach > near && reach < far)) reach = far < most ? (near + far) / 2 : most - left / 1e3;
  }
  return most;
}

enum { DIFF_GROUPS = EV_NODES / EV_LANES };

/* Gauss and Legendre's rule, and Legendre's polynomials at each of its nodes, in lanes. */
typedef struct diff_rule {
  ev_lanes node[DIFF_GROUPS], weight[DIFF_GROUPS];
  ev_lanes legendre[EV_NODES][DIFF_GROUPS];
} diff_rule;

static void set_diff_rule(diff_rule *r) {
  for (int i = 0; i < EV_NODES; i++) {
    double p[EV_NODES + 1];
    ev_legendre(ev_node(i), p);
    for (int k = 0; k < EV_NODES; k++) r->legendre[i][k / EV_LANES][k % EV_LANES] = p[k];
    r->node[i / EV_LANES][i % EV_LANES] = ev_node(i);
    r->weight[i / EV_LANES][i % EV_LANES] = ev_weight(i);
  }
}

/* Integrals over a panel, of densities relative to those at the peak. */
typedef struct diff_panel {
  double a, b, product;
  double lead; /* of A's density times the integral of B's from the panel's beginning */
} diff_panel;

/* A density times its weights gives sums alpha_k with Legendre's polynomials, and the
** integral of such a polynomial is a difference of its neighbours: so the lead is half of
** alpha_0 beta_0 + sum (alpha_k+1 beta_k - alpha_k beta_k+1).  It is as exact as the rule,
** though the integral up to a node, of half the degree, is not. */
EV_INLINE double lead_in_panel(const double *alpha, const double *beta) {
  double sum = alpha[0] * beta[0];
  for (int k = 0; k < EV_NODES - 1; k++) sum += alpha[k + 1] * beta[k] - alpha[k] * beta[k + 1];
  return sum / 2;
}

EV_WIDE static void integrate_diff_panel(const diff_rule *r, const diff_powers *f, double from,
                                         double to, diff_panel *panel) {
  const ev_lanes power = f->power, by = f->by;
  double mid = (from + to) / 2, half = (to - from) / 2, a[EV_NODES], b[EV_NODES];
  ev_lanes product = {0}, alpha[DIFF_GROUPS] = {{0}}, beta[DIFF_GROUPS] = {{0}};
  for (int i = 0; i < DIFF_GROUPS; i++) {
    ev_lanes v = mid + half * r->node[i], w[] = {by[0] * v, by[1] * v, by[2] * v, by[3] * v};
    ev_log1p_less(w, EV_LANES);
    ev_lanes density[] = {a_slope(f) * v + (power[0] * w[0] + power[1] * w[1]),
                          b_slope(f) * v + (power[2] * w[2] + power[3] * w[3])};
    ev_exp(density, 2);
    product += r->weight[i] * density[0] * density[1];
    density[0] *= r->weight[i];
    density[1] *= r->weight[i];
    memcpy(a + EV_LANES * i, &density[0], sizeof density[0]);
    memcpy(b + EV_LANES * i, &density[1], sizeof density[1]);
  }
  for (int i = 0; i < EV_NODES; i++)
#pragma GCC unroll 4
    for (int k = 0; k < DIFF_GROUPS; k++) {
      alpha[k] += a[i] * r->legendre[i][k];
      beta[k] += b[i] * r->legendre[i][k];
    }
  memcpy(a, alpha, sizeof a);
  memcpy(b, beta, sizeof b);
  *panel = (diff_panel){half * a[0], half * b[0], half * ev_sum(&product),
                        half * half * lead_in_panel(a, b)};
}

/* How many panels the line is integrated in.  Of 6,000 random calls each the bounds were
** within 2e-11, 3e-13 and 6e-15 with 4, 5 and 6 panels.  Where A's density falls and B's
** rises, the lead in a panel is less than what it is computed from by what they change
** there: at a level of 1 - 1e-12 by e^65 along the line, and e^10 in a panel will do. */
enum { DIFF_PANELS = 6, DIFF_MOST_PANELS = 40 };
static const double DIFF_TILT = 10;

static int diff_panels(const diff_powers *f, double window) {
  int least = ev_sum(&f->power) <= DIFF_EXACT_DEGREE ? 1 : DIFF_PANELS;
  double tilted = ceil(fmin(-a_slope(f), b_slope(f)) * window / DIFF_TILT);
  return (int)fmin(DIFF_MOST_PANELS, fmax(least, tilted));
}

/* ln of the chance that A is ahead by more, and by how much that falls with z. */
typedef struct diff_chance {
  double ln, falls;
} diff_chance;

static diff_chance diff_chance_beyond(diff_line *l, const diff_rule *r) {
  diff_pair peak;
  diff_powers f;
  ev_point share = diff_peak(l, &peak, &f);
  double a = exp(ev_ln_share_density(&l->a, peak.a)) * l->length;
  double b = exp(ev_ln_share_density(&l->b, peak.b)) * l->length;
  double before = diff_reach(&f, -1, share.x), behind = diff_reach(&f, 1, share.y);
  diff_pair first = diff_pair_at(l, (ev_point){share.x - before, share.y + before});
  diff_pair last = diff_pair_at(l, (ev_point){share.x + behind, share.y - behind});
  double b_below = ev_beta_cdf(&l->b, first.b).x, chance = 0, density = 0;
  int panels = diff_panels(&f, before + behind);
  double width = (before + behind) / panels;
  for (int i = 0; i < panels; i++) {
    diff_panel panel;
    integrate_diff_panel(r, &f, width * i - before, width * (i + 1) - before, &panel);
    chance += a * (panel.a * b_below + panel.lead * b);
    density += a * b * panel.product;
    b_below += b * panel.b;
  }
  chance += ev_beta_cdf(&l->a, last.a).y * b_below;
  return (diff_chance){log(chance), density / chance * (1 + fabs(l->ahead)) / 2};
}

/* Where the search begins: from the difference of the means as far as both models' own
** bounds are from theirs, squared and added (Newcombe 1998 does so with Wilson's bounds).
** 1 + x and 1 - x are sums, so that the smaller has its digits; NaN if a bound is not found. */
static double diff_start(const diff_line *l, double tail) {
  ev_point a, b;
  if (!ev_beta_quantile(&l->a, (ev_point){1 - tail, tail}, &a) ||
      !ev_beta_quantile(&l->b, (ev_point){tail, 1 - tail}, &b))
    return NAN;
  double far = hypot(ev_beta_deviation(&l->a, a), ev_beta_deviation(&l->b, b));
  double up = l->a.mean + l->b.comean + far, down = l->a.comean + l->b.mean - far;
  return up < down ? log(up / (2 - up)) : log((2 - down) / down);
}

/* Where the first line has its peak, about: what either model says of A, weighed by the
** variances. */
static double diff_first_peak(const diff_line *l) {
  double a = ev_beta_variance(&l->b), b = ev_beta_variance(&l->a), least = l->length / 1e3;
  double low = (a * l->a.mean + b * (l->b.mean + l->ahead)) / (a + b) - fmax(0, l->ahead);
  double high = (a * l->a.comean + b * (l->b.comean - l->ahead)) / (a + b) - fmax(0, -l->ahead);
  return log(fmax(least, low) / fmax(least, high));
}

/* The lead of A that is exceeded with chance `tail`.  ln of the chance is concave in the
** lead, so Newton's method comes to it from above and does not pass it: 7 steps were the most
** seen.  The last one leaves the square of what it mends, or is the lead's own rounding,
** which with 10^15 questions is no smaller. */
enum { DIFF_STEPS = 50 };
static const double DIFF_LN_TOLERANCE = 1e-7, DIFF_ROUNDING = 1e-15;

static bool diff_lead(const ev_beta *a, const ev_beta *b, const diff_rule *r, double tail,
                      double *lead) {
  diff_line l = {.a = *a, .b = *b};
  double z = diff_start(&l, tail);
  bool done = false;
  set_diff_line(&l, z);
  l.peak = diff_first_peak(&l);
  for (int i = 0; i < DIFF_STEPS && !done; i++) {
    set_diff_line(&l, z);
    diff_chance c = diff_chance_beyond(&l, r);
    double excess = c.ln - log(tail), step = excess / c.falls;
    z += step;
    done = fabs(excess) <= DIFF_LN_TOLERANCE || fabs(step) <= DIFF_ROUNDING;
  }
  *lead = diff_at(z);
  return done;
}

/* The lower bound is B's lead: exchanging A and B repeats the same arithmetic.  With 10^15
** questions and a level of 1e-9 they may be in either order. */
ev_status ev_diff(const double *counts, const ev_options *options, ev_interval *ci) {
  ev_beta a = ev_uniform_posterior(counts), b = ev_uniform_posterior(counts + 2);
  double tail = ev_tail(options), a_lead, b_lead;
  diff_rule r;
  assert(options->level > 0 && options->level < 1);
  set_diff_rule(&r);
  if (!diff_lead(&a, &b, &r, tail, &a_lead) || !diff_lead(&b, &a, &r, tail, &b_lead))
    return EV_NOT_CONVERGED;
  *ci = (ev_interval){fmin(-b_lead, a_lead), fmax(-b_lead, a_lead)};
  return ev_interval_status(*ci);
}

static ev_status diff_clt_ordered(const double *c, const ev_options *options, ev_interval *ci) {
  double a_wrong = c[1] - c[0], b_wrong = c[3] - c[2];
  double a_variance = c[0] / c[1] * (a_wrong / c[1]) / c[1];
  double b_variance = c[2] / c[3] * (b_wrong / c[3]) / c[3];
  double mean = ev_cross_difference(c[0], c[3], c[2], c[1]) / c[1] / c[3];
  *ci = ev_plus_minus(mean, ev_deviate(options) * sqrt(a_variance + b_variance));
  return ev_interval_status(*ci);
}

ev_status ev_diff_clt(const double *counts, const ev_options *options, ev_interval *ci) {
  return ev_antisymmetric(counts, options, diff_clt_ordered, ci);
}
