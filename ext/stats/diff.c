/*
** The difference of two models on different questions, theta_A - theta_B
**
** Its density is one integral, of two densities along the line on which they differ by so
** much, and ev_marginal turns it into quantiles.
**
** Each theta is measured from the end of [0,1] it is nearer to, so that small
** error rates keep their digits: the difference is then, up to sign and a
** constant, x - u or x + u, with x and u the distances.  The line on which that is
** constant is told by the share of it that lies before; along it the density is a
** product of four powers, of the distances of x and u from 0 and from 1, and
** log-concave.  Told by how far they are from their peak, powers of any size lose no
** digits.
*/
#include "unpaired.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "beta.h"
#include "contrast.h"
#include "lanes.h"
#include "legendre.h"
#include "marginal.h"
#include "normal.h"

typedef struct diff_line {
  ev_beta x, u;  /* the distances' distributions */
  bool sum;      /* x + u - 1 is sought, not x - u */
  double at;     /* its value */
  double length; /* of the line */
  double peak;   /* logit of the share at the last line's peak */
} diff_line;

/* x and u where a line is divided: share.x of it lies before, share.y behind.  Each
** distance comes from the form that does not cancel. */
typedef struct diff_pair {
  ev_point x, u;
} diff_pair;

static diff_pair diff_pair_at(const diff_line *l, ev_point share) {
  double low = l->length * share.x, high = l->length * share.y;
  diff_pair p;
  if (l->sum) {
    double gap = fabs(l->at);
    p.x.x = l->at <= 0 ? low : low + gap;
    p.u.x = l->at <= 0 ? high : high + gap;
    p.x.y = l->at <= 0 ? high + gap : high;
    p.u.y = l->at <= 0 ? low + gap : low;
  } else {
    p.x.x = l->at >= 0 ? l->at + low : low;
    p.u.x = l->at >= 0 ? low : low - l->at;
    p.x.y = l->at >= 0 ? high : high - l->at;
    p.u.y = l->at >= 0 ? high + l->at : high;
  }
  return p;
}

/* The product of (1 + by v)^power over the lanes, which are x.x, x.y, u.x and u.y. */
typedef struct diff_powers {
  ev_lanes power, by;
} diff_powers;

/* About the pair p, v being a way along the line. */
static void set_diff_powers(const diff_line *l, const diff_pair *p, diff_powers *f) {
  double u = l->sum ? -l->length : l->length;
  f->power = (ev_lanes){l->x.a - 1, l->x.b - 1, l->u.a - 1, l->u.b - 1};
  f->by = (ev_lanes){l->length / p->x.x, -l->length / p->x.y, u / p->u.x, -u / p->u.y};
  /* At an end of the line only such can be as large as they like. */
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

/* The slope of ln of the product at v = 0, and its curvature with the sign changed. */
static double diff_slope(const diff_powers *f) {
  ev_lanes each = f->power * f->by;
  return ev_sum(&each);
}

static double diff_curvature(const diff_powers *f) {
  ev_lanes each = f->power * f->by * f->by;
  return ev_sum(&each);
}

/* The powers at a line's peak, or next to it, or beside the end of the line that it is
** at; the logit of its share there is left in l->peak.  The slope falls along the line:
** Newton's method on its logit, or bisection where that leads out.  Anything within a
** hundredth of a standard deviation will do. */
static const double DIFF_ENDS = 30;
enum { DIFF_PEAK_STEPS = 100 };

static void diff_powers_at_peak(diff_line *l, diff_pair *p, diff_powers *f) {
  double least = -DIFF_ENDS, most = DIFF_ENDS;
  for (int i = 0; i < DIFF_PEAK_STEPS; i++) {
    ev_point share = ev_at_logit(l->peak);
    double by_logit = share.x * share.y;
    *p = diff_pair_at(l, share);
    set_diff_powers(l, p, f);
    double slope = diff_slope(f) * by_logit, curvature = diff_curvature(f) * by_logit * by_logit;
    double bend = curvature - slope * (share.y - share.x);
    if (slope > 0)
      least = l->peak;
    else
      most = l->peak;
    if (slope * slope <= 1e-4 * curvature || most - least < 1e-9) return;
    double next = l->peak + slope / bend;
    bool inside = bend > 0 && next > least && next < most;
    l->peak = inside ? next : (least + most) / 2;
  }
}

/* Up to this degree of all powers together the product is integrated exactly over all of
** the line. */
static const double DIFF_EXACT_DEGREE = 4 * EV_LEGENDRE_HALF - 1;

/* How far from the peak, at most `most`, which is the end of the line, the product has
** become negligible: anything from e^-36 to e^-58 of the peak will do.  Were ln of it a
** parabola, the first try would; else Newton's method on ln of what is left of the line,
** where a power that ends there is a straight line, or bisection. */
static double diff_reach(const diff_powers *f, double side, double most) {
  double down = fmax(0, -side * diff_slope(f)), curvature = diff_curvature(f);
  double reach = 84 / (down + sqrt(down * down + 84 * curvature)), near = 0, far = most;
  if (ev_sum(&f->power) <= DIFF_EXACT_DEGREE) return most;
  if (reach >= most) reach = 0.9 * most;
  for (int i = 0; i < DIFF_PEAK_STEPS; i++) {
    ev_lanes v = side * reach * f->by, falls = f->power * f->by / (1 + v);
    double drop = -ln_diff_powers(&f->power, &v), left = most - reach;
    if (drop > EV_INNER_LN_DROP && drop < 58) return reach;
    if (drop <= EV_INNER_LN_DROP)
      near = reach;
    else
      far = reach;
    if (most - near < 1e-6 * most) return most;
    double rate = fmax(0.5, -side * ev_sum(&falls) * left);
    reach = most - left * exp((drop - 44) / rate);
    if (!(reach > near && reach < far)) reach = far < most ? (near + far) / 2 : most - left / 1e3;
  }
  return most;
}

/* The integral of the product from v = from to v = to. */
EV_WIDE static double diff_integral(const diff_powers *f, double from, double to) {
  ev_lanes sum = {0};
  double mid = (from + to) / 2, half = (to - from) / 2;
  for (int i = 0; i < EV_LEGENDRE_HALF; i += EV_LANES) {
    ev_lanes weight, node, ln[2] = {{0}};
    memcpy(&node, ev_legendre_nodes + i, sizeof node);
    memcpy(&weight, ev_legendre_weights + i, sizeof weight);
    for (int j = 0; j < EV_LANES; j++) {
      ev_lanes part[] = {(mid - half * node) * f->by[j], (mid + half * node) * f->by[j]};
      ev_log1p(part, 2);
      ln[0] += f->power[j] * part[0];
      ln[1] += f->power[j] * part[1];
    }
    ev_exp(ln, 2);
    sum += weight * (ln[0] + ln[1]);
  }
  return ev_sum(&sum) * half;
}

static double diff_at(double z) {
  return tanh(z / 2);
}

/* Up to a constant. */
static double ln_diff_density(double z, void *context) {
  diff_line *l = context;
  diff_pair p;
  diff_powers f;
  l->at = diff_at(z);
  /* 1 - |at|, which has no digits left where |at| rounds to 1; nearer to 0 the last
  ** digits of the bounds rest on the difference. */
  l->length = fabs(z) < 30 ? 1 - fabs(l->at) : 2 / (1 + exp(fabs(z)));
  diff_powers_at_peak(l, &p, &f);
  ev_point share = ev_at_logit(l->peak);
  double before = diff_reach(&f, -1, share.x), behind = diff_reach(&f, 1, share.y);
  return ev_ln_powers(&l->x, p.x, 1) + ev_ln_powers(&l->u, p.u, 1) +
         log(diff_integral(&f, -before, behind) * l->length * l->length * (1 + fabs(l->at)));
}

/* The line changes ends at a difference of 0, and where there are so few counts that the
** thetas may both be there, the density has a corner. */
static const double DIFF_CORNER_COUNTS = 60;

static ev_status diff_ordered(const double *c, const ev_options *options, ev_interval *ci) {
  ev_beta a = ev_uniform_posterior(c), b = ev_uniform_posterior(c + 2);
  bool a_high = a.mean > 0.5, b_high = b.mean > 0.5;
  diff_line l = {.x = a_high ? ev_beta_make(a.b, a.a) : a,
                 .u = b_high ? ev_beta_make(b.b, b.a) : b,
                 .sum = a_high != b_high};
  double start = l.sum ? l.x.mean + l.u.mean - 1 : l.x.mean - l.u.mean;
  double sd = 2 * sqrt(ev_beta_variance(&l.x) + ev_beta_variance(&l.u)) / (1 - start * start);
  ev_search search = {.ln_density = ln_diff_density,
                      .context = &l,
                      .start = 2 * atanh(start),
                      .width = fmin(3, 6 * sd),
                      .has_corner = fmin(a.a + b.a, a.b + b.b) < DIFF_CORNER_COUNTS,
                      .corner = 0};
  ev_interval z;
  double residual = -HUGE_VAL;
  ev_status status = ev_contrast_interval(&search, options, &residual, &z);
  if (status != EV_OK) return status;
  double lo = diff_at(z.lo), hi = diff_at(z.hi);
  /* 1 - A' - B' = -(A' + B' - 1), and so on: a high A turns the sign. */
  *ci = a_high ? (ev_interval){-hi, -lo} : (ev_interval){lo, hi};
  return ev_interval_status(*ci);
}

ev_status ev_diff(const double *counts, const ev_options *options, ev_interval *ci) {
  return ev_antisymmetric(counts, options, diff_ordered, ci);
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
