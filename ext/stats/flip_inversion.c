/*
** The distribution of the sign-flip test, by inversion of its moment generating function.
**
** T = sum s_i d_i with fair signs s_i has E e^(sT) = e^K(s), K(s) = sum ln cosh(s d_i).  Its tail
** P(T > t) + P(T = t)/2 at t > 0, twice, is
**
**     p = 2 (1/2 pi i) integral of e^(K(s) - st)/s ds  along Re s = c > 0
**
** by the trapezoid rule, c being the saddle point K'(c) = t, or further from the pole at 0.
**  1. Whole sizes: all sums differ from t by even numbers, so that the integral is one over
**     Im s from -pi/2 to pi/2 with coth(s) for 1/s, which is exact.
**  2. Others: from the factors cosh(s d_i), up to where the integrand is negligible.
**  3. If it never is, up to Im s = tau with g(s)/s for 1/s, g(s) = e^(-36 (s/tau)^4), the
**     transform of a symmetric kernel, by which T is smeared over a few units of 1/tau, and a
**     sum at t keeps its half weight.  The error depends on how evenly the sums lie about t.
**     Measured: 1e-8 for 41 differences without a unit, half of that for every two more; 2e-6
**     where three sizes without a unit came 3,000 times each.  |e^K| has a narrow peak near
**     every multiple of pi/d of a frequent size d; nothing is summed in between.  p computed
**     with half of tau must agree.
**
** References:
**   Daniels, Int. Stat. Rev. 55 (1987) 37-48: tails through the saddle point, of whole numbers too.
**   Rice, SIAM J. Sci. Stat. Comput. 1 (1980) 438-448: a tail through the saddle point, by the
**     trapezoid rule.
*/
#include "flips.h"

#include <float.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "lanes.h"

/* Values below e^-LN_NEGLIGIBLE of the integrand's peak, 5e-15, are not summed. */
static const double LN_NEGLIGIBLE = 33;

/* At most this many factors cosh are multiplied, which takes about 10 ms, but at least at this many
** nodes, with which the kernel is off by 1e-11 for a normal distribution. */
static const double MOST_FACTORS = 3e6, LEAST_NODES = 4000;

/* The same of many sizes.  A product of the cosines of n such sizes does not fade at n < 60, where
** all factors would be spent to move p by less than 5e-5 of it. */
static const double MANY_MOST_FACTORS = 1e5, MANY_LEAST_NODES = 400;

/* The limit of Im s times the largest d, beyond which the rounding of Im s t would matter. */
static const double MOST_ANGLE = 1e4;

/* On a path at c, a size d with cd above this is negative with a probability below e^-40. */
static const double SURE = 20;

typedef struct flip_factor {
  double d, times, th, sech2; /* tanh(cd), 1/cosh(cd)^2 */
} flip_factor;

typedef struct inversion {
  ev_flips *f;
  flip_factor *factors; /* of the sizes that are not sure */
  size_t count;
  double c, ln_peak, variance, t; /* Re s, K(c) - ct, K''(c), and t less the sizes that are sure */
  double largest;                 /* size that is not sure */
} inversion;

/* Moves the path to c, and returns K'(c). */
static double set_flip_path(inversion *v, double c) {
  double slope = 0, ln = 0, linear = -v->f->t;
  v->c = c;
  v->variance = 0;
  v->count = 0;
  v->t = v->f->t;
  v->largest = 0;
  for (size_t i = 0; i < v->f->count; i++) {
    double d = v->f->sizes[i].d, times = v->f->sizes[i].times;
    double y = c * d, e = exp(-2 * y), less = y < 0.5 ? expm1(-2 * y) : e - 1;
    double th = -less / (1 + e), sech2 = 4 * e / gsl_pow_2(1 + e);
    /* ln cosh y, without y if y is large: those parts nearly cancel ct, and are summed apart. */
    ln += times * (y < 0.5 ? -log1p(-th * th) / 2 : log1p(e) - M_LN2);
    linear += y < 0.5 ? 0 : times * d;
    v->variance += times * d * d * sech2;
    slope += times * d * th;
    if (y > SURE) {
      v->t -= times * d;
      continue;
    }
    v->largest = fmax(v->largest, d);
    v->factors[v->count++] = (flip_factor){d, times, th, sech2};
  }
  v->ln_peak = ln + c * linear;
  return slope;
}

/* e^(K(c) - ct) is a bound of p for every c: at less than this p underflows. */
static const double LEAST_LN_PEAK = -750;

/* Moves the path to where K' is t, from below: K' is concave there, so that Newton's steps never
** pass it: few suffice, and after 100 any point is a path.  A step of 1e-6 of the way is none.
** Then away from the pole at 0, by two standard deviations of s, as long as the integrand's peak
** does not grow by more than e^3, which costs as many digits. */
static ev_status find_flip_path(inversion *v) {
  double slope = set_flip_path(v, 0), sd = sqrt(v->variance);
  for (int i = 0; i < 100; i++) {
    double step = (v->f->t - slope) / v->variance;
    if (v->ln_peak < LEAST_LN_PEAK || !(step > 1e-6 * v->c)) break;
    if (ev_flips_interrupted(v->f, 50 * (double)v->f->count)) return EV_INTERRUPTED;
    slope = set_flip_path(v, v->c + step);
  }
  double ln_peak = v->ln_peak;
  while (v->c * sqrt(v->variance) < 2 && v->ln_peak < ln_peak + 3) {
    if (ev_flips_interrupted(v->f, 50 * (double)v->f->count)) return EV_INTERRUPTED;
    set_flip_path(v, fmax(1.5 * v->c, 1 / sd));
  }
  return EV_OK;
}

static bool all_below(const ev_lanes *x, double most) {
  return (*x)[0] < most && (*x)[1] < most && (*x)[2] < most && (*x)[3] < most;
}

/* At s = c + iy, four y at a time, ln of |cosh(sd)/cosh(cd)|^times, summed: its square is
** 1 - (sin(yd)/cosh(cd))^2.  Stops where all are `least` or less: no factor is above 1.  Those that
** came once are multiplied, which takes a third of the time. */
EV_WIDE static void add_ln_sizes(const flip_factor *q, size_t count, const ev_lanes *y,
                                 double least, ev_lanes *ln) {
  ev_lanes once = {1, 1, 1, 1};
  double least_once = exp(2 * least);
  *ln = (ev_lanes){0};
  for (size_t i = 0; i < count && !all_below(ln, least) && !all_below(&once, least_once); i++) {
    ev_lanes at = *y * q[i].d, cosine, sine;
    ev_sincos(&at, &cosine, &sine);
    at = -q[i].sech2 * sine * sine;
    if (q[i].times == 1) {
      once *= 1 + at;
      continue;
    }
    ev_at_least(&at, -1 + DBL_EPSILON);
    ev_log1p(&at, 1);
    *ln += q[i].times / 2 * at;
  }
  ev_log(&once, 1);
  *ln += once / 2;
}

/* The angle of the same product, with its sign kept apart, because -1 to the power of 10^15 has no
** digits left as an angle. */
EV_WIDE static void add_angles(const flip_factor *q, size_t count, const ev_lanes *y,
                               ev_lanes *angle, ev_lanes *sign) {
  for (size_t i = 0; i < count; i++) {
    ev_lanes at = *y * q[i].d, re, im, other;
    ev_sincos(&at, &re, &im);
    im *= q[i].th;
    ev_bits left = (ev_bits)(re < 0);
    other = -re, ev_choose(&left, &other, &re, &re);
    other = -im, ev_choose(&left, &other, &im, &im);
    if (fmod(q[i].times, 2) == 1) other = -*sign, ev_choose(&left, &other, sign, sign);
    ev_angle(&re, &im, &at);
    *angle += q[i].times * at;
  }
}

/* e^(K(s) - st) at four s = c + iy, over its value at y = 0; false where it is negligible. */
static bool flip_integrand(const inversion *v, const ev_lanes *y, ev_lanes *re, ev_lanes *im) {
  ev_lanes ln, angle = -*y * v->t, sign = {1, 1, 1, 1};
  add_ln_sizes(v->factors, v->count, y, -LN_NEGLIGIBLE, &ln);
  if (all_below(&ln, -LN_NEGLIGIBLE)) return false;
  add_angles(v->factors, v->count, y, &angle, &sign);
  for (int i = 0; i < EV_LANES; i++) {
    double r = ln[i] < -LN_NEGLIGIBLE ? 0 : sign[i] * exp(ln[i]);
    (*re)[i] = r * cos(angle[i]);
    (*im)[i] = r * sin(angle[i]);
  }
  return true;
}

/* Re of (re + i im) g(s)/s at s = c + iy, g(s) = exp(-36 (s/tau)^4). */
static double weighed(double c, double y, double tau, double re, double im) {
  if (re == 0 && im == 0) return 0;
  double square = (c * c - y * y) / (tau * tau), twice = 2 * c * y / (tau * tau);
  double g = exp(-36 * (square * square - twice * twice)), angle = -72 * square * twice;
  double u = g * cos(angle), w = g * sin(angle);
  return ((u * re - w * im) * c + (u * im + w * re) * y) / (c * c + y * y);
}

/* Re of (re + i im) coth(s) at s = c + iy. */
static double weighed_whole(double c, double y, double re, double im) {
  if (re == 0 && im == 0) return 0;
  double e = exp(-2 * c), si = sin(y);
  double below = gsl_pow_2(expm1(-2 * c)) + 4 * e * si * si;
  return (-expm1(-4 * c) * re + 2 * e * sin(2 * y) * im) / below;
}

/* The largest distance of y d from a multiple of pi, d the most frequent size, at which the
** integrand is not negligible. */
static double peak_width(const inversion *v) {
  const flip_factor *q = v->factors;
  double most = -expm1(-2 * LN_NEGLIGIBLE / q->times) / q->sech2;
  return most < 1 ? asin(sqrt(most)) : M_PI_2;
}

/* The allowed change of p when the kernel becomes half as wide; that of many sizes is large beside
** the change of p itself. */
static const double CONVERGED = 1e-7, MANY_CONVERGED = 1e-5;

/* The limit of the integrand at node n, from node 200 on, is n times this.  A peak is some 5 nodes
** wide, and each node adds 2/pi of its height over n: 3e-10 in all. */
static const double LIMIT_PER_NODE = 1e-10, FIRST_CHECKED_NODE = 200;

/* Whether the integrand stays below that limit up to node `last`.  A peak is about as wide as the
** one at 0, so every fourth node suffices. */
static bool stays_negligible(const inversion *v, double h, double last) {
  for (double n = FIRST_CHECKED_NODE; n <= last; n += 16) {
    ev_lanes y = {n * h, (n + 4) * h, (n + 8) * h, (n + 12) * h}, ln;
    double least = log(LIMIT_PER_NODE * n);
    add_ln_sizes(v->factors, v->count, &y, least, &ln);
    if (!all_below(&ln, least)) return false;
  }
  return true;
}

static ev_status inverted_p(inversion *v, double *p) {
  bool period = v->f->period;
  double sd = sqrt(v->variance), d = v->factors[0].d;
  *p = 0;
  if (v->ln_peak < LEAST_LN_PEAK) return EV_OK;
  /* Step 2 pi/span: the rule's error is P(T > t - span) e^(-c span) on one side, and
  ** e^-(span/sd)^2/2 on the other. */
  double span = fmax(10 * sd, (40 - v->ln_peak) / v->c), steps = ceil(span / 4);
  double h = period ? M_PI_2 / steps : 2 * M_PI / span, total = 0, coarse = 0;
  double width = peak_width(v), visited = 2 * width / M_PI;
  bool many = v->count >= EV_MANY_SIZES;
  double nodes = fmax(many ? MANY_LEAST_NODES : LEAST_NODES,
                      (many ? MANY_MOST_FACTORS : MOST_FACTORS) / visited / (double)v->count);
  /* g(s) is nearly real from 40 c on. */
  double tau = fmax(fmin(nodes * h, MOST_ANGLE / v->largest), 80 * v->c);
  double last = period ? steps : floor(1.1 * tau / h);
  bool fades = !period && last >= FIRST_CHECKED_NODE && stays_negligible(v, h, last);
  if (fades) tau = INFINITY, last = FIRST_CHECKED_NODE;
  for (double n = 0; n <= last; n += EV_LANES) {
    /* Between peaks of the most frequent size the integrand is negligible. */
    double peak = M_PI * floor(n * h * d / M_PI + 0.5);
    if (n * h * d > peak + width) peak += M_PI;
    n = fmax(n, ceil((peak - width) / (h * d)));
    ev_lanes y = {n * h, (n + 1) * h, (n + 2) * h, (n + 3) * h}, re, im;
    if (ev_flips_interrupted(v->f, 10 * (double)v->count)) return EV_INTERRUPTED;
    if (!flip_integrand(v, &y, &re, &im)) continue;
    for (int i = 0; i < EV_LANES && n + i <= last; i++) {
      double share = n + i == 0 || (period && n + i == steps) ? 0.5 : 1;
      if (period) {
        total += share * weighed_whole(v->c, y[i], re[i], im[i]);
      } else {
        total += share * weighed(v->c, y[i], tau, re[i], im[i]);
        coarse += share * weighed(v->c, y[i], tau / 2, re[i], im[i]);
      }
    }
  }
  double scale = 2 * exp(v->ln_peak) * h / M_PI;
  *p = fmin(2, fmax(0, scale * total));
  return period || fabs(scale * (total - coarse)) <= (many ? MANY_CONVERGED : CONVERGED)
             ? EV_OK
             : EV_NOT_CONVERGED;
}

ev_status ev_flips_inverted(ev_flips *f, double *p) {
  inversion v = {.f = f, .factors = malloc(f->count * sizeof *v.factors)};
  if (!v.factors) return EV_NO_MEMORY;
  f->tries++;
  ev_status status = find_flip_path(&v);
  if (status == EV_OK) status = inverted_p(&v, p);
  free(v.factors);
  return status;
}
