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
**  2. Many differences, none large beside sqrt(sum d_i^2): the integrand has one peak, on
**     which K is a short power series, from the sums of d_i^2, d_i^4, ..., d_i^18.
**  3. Others: from the factors cosh(s d_i), up to where the integrand is as good as 0.
**  4. If it never is, up to Im s = tau with g(s)/s for 1/s, g(s) = e^(-36 (s/tau)^4), the
**     transform of a symmetric kernel, by which T is smeared over a few units of 1/tau, and a
**     sum at t keeps its half weight.  The error depends on how evenly the sums lie about t.
**     Measured: 1e-8 for 41 differences without a unit, half of that for every two more; 2e-6
**     where three sizes without a unit came 3,000 times each.  |e^K| has a narrow peak near
**     every multiple of pi/d for a d that came often; in between nothing is summed.  p with
**     half of tau must agree.
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

/* e^-NOTHING of the integrand's peak is not summed: 5e-15. */
static const double NOTHING = 33, NOTHING_SQUARED = 2e-29;

/* So many factors cosh are multiplied at the most, some 10 ms, but at this many nodes at least,
** with which the kernel is off by 1e-11 on a normal distribution. */
static const double MOST_FACTORS = 3e6, LEAST_NODES = 4000;

/* Im s times the largest d: beyond it the rounding of Im s t would tell. */
static const double MOST_ANGLE = 1e4;

/* On a path at c, signs of a difference with cd above this are all but surely positive. */
static const double SURE = 20;

/* Powers up to this take fewer operations by squaring than by a logarithm and an angle. */
static const double FEW = 100;

typedef struct flip_factor {
  double d, times, th, sech2; /* tanh(cd), 1/cosh(cd)^2 */
} flip_factor;

typedef struct inversion {
  ev_flips *f;
  flip_factor *factors;           /* of the sizes that are not sure */
  size_t count, powers;           /* the first so many came more than FEW times */
  double c, ln_peak, variance, t; /* Re s, K(c) - ct, K''(c), and t less what is sure */
  double largest;                 /* size that is not sure */
} inversion;

/* Puts the path at c, and gives K'(c). */
static double set_flip_path(inversion *v, double c) {
  double slope = 0, ln = 0, linear = -v->f->t;
  v->c = c;
  v->variance = 0;
  v->count = v->powers = 0;
  v->t = v->f->t;
  v->largest = 0;
  for (size_t i = 0; i < v->f->count; i++) {
    double d = v->f->sizes[i].d, times = v->f->sizes[i].times;
    double y = c * d, e = exp(-2 * y), less = y < 0.5 ? expm1(-2 * y) : e - 1;
    double th = -less / (1 + e), sech2 = 4 * e / gsl_pow_2(1 + e);
    /* ln cosh y, less y where that is most of it: the sum of those may be ct but for a few. */
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
    if (times > FEW) v->powers++;
  }
  v->ln_peak = ln + c * linear;
  return slope;
}

/* e^(K(c) - ct) is a bound of p for every c: at less than this p underflows. */
static const double LEAST_LN_PEAK = -750;

/* To where K' is t, from below: K' is concave there, so that Newton's steps never pass it.  Then
** away from the pole at 0, by two standard deviations of s, as long as the integrand's peak does
** not grow by more than e^3. */
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

/* At s = c + iy, four y at a time, the product of (cosh(sd)/cosh(cd))^times: as a logarithm, an
** angle and a sign, since -1 to the power of 10^15 has no digits left as an angle.  Stops
** where it is e^-NOTHING or less. */
EV_WIDE static void multiply_powers(const flip_factor *q, size_t count, const ev_lanes *y,
                                    ev_lanes *ln, ev_lanes *angle, ev_lanes *sign) {
  for (size_t i = 0; i < count && !all_below(ln, -NOTHING); i++, q++) {
    ev_lanes at = *y * q->d, re, si, im, w, other;
    ev_turn(&at, &re, &si);
    im = q->th * si;
    w = -q->sech2 * si * si;
    ev_bits left = (ev_bits)(re < 0);
    other = -re, ev_choose(&left, &other, &re, &re);
    other = -im, ev_choose(&left, &other, &im, &im);
    if (fmod(q->times, 2) == 1) other = -*sign, ev_choose(&left, &other, sign, sign);
    ev_at_least(&w, -1 + DBL_EPSILON);
    ev_log1p(&w, 1);
    ev_angle(&re, &im, &at);
    *ln += q->times / 2 * w;
    *angle += q->times * at;
  }
}

/* Likewise of those that came up to FEW times, by squaring, times (a + ib). */
EV_WIDE static void multiply_few(const flip_factor *q, size_t count, const ev_lanes *y, ev_lanes *a,
                                 ev_lanes *b) {
  for (size_t i = 0; i < count; i++, q++) {
    ev_lanes at = *y * q->d, re, im, last;
    ev_turn(&at, &re, &im);
    im *= q->th;
    for (int times = (int)q->times; times > 0; times /= 2) {
      if (times % 2) last = *a, *a = last * re - *b * im, *b = last * im + *b * re;
      last = re, re = last * last - im * im, im = 2 * last * im;
    }
    at = *a * *a + *b * *b;
    if (i % 8 == 0 && all_below(&at, NOTHING_SQUARED)) {
      *a = *b = (ev_lanes){0};
      return;
    }
  }
}

/* Whether the product is e^-NOTHING or less at four y, by a bound.  The square of a factor is
** 1 - w, w = sech(cd)^2 sin(yd)^2, and -ln(1 - w) is at least w + w^2/2 + w^3/3.  With r the
** distance from the nearest multiple of pi, sin(r)^2 is at least the first four terms of its
** alternating series. */
EV_WIDE static bool negligible_at(const flip_factor *q, size_t count, const ev_lanes *y) {
  ev_lanes less = {0};
  for (size_t i = 0; i < count; i++, q++) {
    ev_lanes at = *y * q->d, n = at * M_1_PI + 0x1.8p52 - 0x1.8p52, r = at - n * M_PI, z = r * r;
    ev_lanes sine2 = (z - z * z * (1.0 / 3)) + z * z * z * (2.0 / 45 - z * (1.0 / 315));
    ev_lanes w = q->sech2 * sine2;
    less -= q->times / 2 * (w + w * w * (0.5 + w * (1.0 / 3)));
    if (i % 4 == 3 && all_below(&less, -NOTHING)) return true;
  }
  return all_below(&less, -NOTHING);
}

/* e^(K(s) - st) at four s = c + iy, over its value at y = 0. */
static void flip_integrand(const inversion *v, const ev_lanes *y, ev_lanes *re, ev_lanes *im) {
  ev_lanes ln = {0}, angle = -*y * v->t, sign = {1, 1, 1, 1};
  multiply_powers(v->factors, v->powers, y, &ln, &angle, &sign);
  for (int i = 0; i < EV_LANES; i++) {
    double r = ln[i] < -NOTHING ? 0 : sign[i] * exp(ln[i]);
    (*re)[i] = r == 0 ? 0 : r * cos(angle[i]);
    (*im)[i] = r == 0 ? 0 : r * sin(angle[i]);
  }
  multiply_few(v->factors + v->powers, v->count - v->powers, y, re, im);
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

/* How far from a multiple of pi an angle y d of the most frequent size may be. */
static double peak_width(const inversion *v) {
  const flip_factor *q = v->factors;
  double most = -expm1(-2 * NOTHING / q->times) / q->sech2;
  return most < 1 ? asin(sqrt(most)) : M_PI_2;
}

/* How far p may change as the kernel becomes half as wide. */
static const double CONVERGED = 1e-7;

/* Whether the integrand's square is below `least` at four y.  That of a factor,
** 1 - (1 - tanh(cd)^2) sin(yd)^2, is at most 1 - (1 - (cd)^2) sin(yd)^2.  No factor is above 1, so
** that the first sizes tell for all: some 64 from everywhere, since sizes next to each other are
** in phase, and then those beside them. */
EV_WIDE static bool quiet_at(const ev_flips *f, double c, double least, const ev_lanes *y) {
  ev_lanes square = {1, 1, 1, 1};
  size_t stride = 1 + f->count / 64;
  for (size_t start = 0; start < stride; start++) {
    for (size_t i = start; i < f->count; i += stride) {
      double d = f->sizes[i].d, share = 1 - c * d * c * d;
      ev_lanes at = *y * d, co, si;
      ev_turn(&at, &co, &si);
      square *= 1 - (share > 0 ? share : 0) * si * si;
      if (all_below(&square, least)) return true;
    }
  }
  return false;
}

/* At node n the integrand may be n times this: a peak is some 5 nodes wide, and adds 2/pi of its
** height over n for each, 3e-10. */
static const double QUIET = 1e-10;

/* The y from which on the integrand is quiet, as far as a kernel would go; INFINITY if there is
** none below node 200.  Before pi/2 over the largest size it only falls.  Nodes are those of
** differences that came once each, 2 pi/(10 sd) apart; a peak is about as wide as that at 0, so
** that every fourth tells. */
static double quiet_from(const ev_flips *f, double c) {
  double largest = 0, squares = 0, nodes = fmax(LEAST_NODES, MOST_FACTORS / (double)f->count);
  for (size_t i = 0; i < f->count; i++) {
    largest = GSL_MAX_DBL(largest, f->sizes[i].d);
    squares += f->sizes[i].d * f->sizes[i].d;
  }
  double h = M_PI / 5 / sqrt(squares);
  double from = M_PI_2 / largest, end = fmax(fmin(nodes * h, MOST_ANGLE / largest), 10 / largest);
  for (double at = from; at < end; at += 16 * h) {
    ev_lanes y = {at, at + 4 * h, at + 8 * h, at + 12 * h};
    if (quiet_at(f, c, gsl_pow_2(QUIET * at / h), &y)) continue;
    from = at + 16 * h;
    if (from > 200 * h) return INFINITY;
  }
  return from;
}

static ev_status inverted_p(inversion *v, double *p) {
  bool period = v->f->period;
  double sd = sqrt(v->variance), ln_peak = v->ln_peak, d = v->factors[0].d;
  *p = 0;
  if (ln_peak < LEAST_LN_PEAK) return EV_OK;
  /* Step 2 pi/span: the rule's error is P(T > t - span) e^(-c span) on one side, and
  ** e^-(span/sd)^2/2 on the other. */
  double span = fmax(10 * sd, (40 - ln_peak) / v->c), steps = ceil(span / 4);
  double h = period ? M_PI_2 / steps : 2 * M_PI / span, total = 0, coarse = 0;
  double width = peak_width(v), visited = 2 * width / M_PI;
  double nodes = fmax(LEAST_NODES, MOST_FACTORS / visited / (double)v->count);
  /* g(s) is nearly real from 40 c on. */
  double tau = fmax(fmin(nodes * h, MOST_ANGLE / v->largest), 80 * v->c);
  double last = period ? steps : floor(1.1 * tau / h);
  double quiet = period ? INFINITY : quiet_from(v->f, v->c);
  if (quiet < INFINITY) tau = INFINITY, last = floor(quiet / h);
  for (double n = 0; n <= last; n += EV_LANES) {
    double peak = M_PI * floor(n * h * d / M_PI + 0.5);
    if (n * h * d > peak + width) peak += M_PI;
    n = fmax(n, ceil((peak - width) / (h * d)));
    ev_lanes y = {n * h, (n + 1) * h, (n + 2) * h, (n + 3) * h}, re = {0}, im = {0};
    if (ev_flips_interrupted(v->f, 10 * (double)v->count)) return EV_INTERRUPTED;
    if (negligible_at(v->factors, v->count, &y)) continue;
    flip_integrand(v, &y, &re, &im);
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
  double scale = 2 * exp(ln_peak) * h / M_PI;
  *p = fmin(2, fmax(0, scale * total));
  return period || fabs(scale * (total - coarse)) <= CONVERGED ? EV_OK : EV_NOT_CONVERGED;
}

/*
** By inversion of a series
*/

/* ln cosh z as a series in z^2, whose terms alternate and which converges up to pi/2; the next
** coefficient is (2/pi)^20/10. */
enum { SERIES = 9 };
static const double LN_COSH[SERIES] = {1.0 / 2,
                                       -1.0 / 12,
                                       1.0 / 45,
                                       -17.0 / 2520,
                                       31.0 / 14175,
                                       -691.0 / 935550,
                                       10922.0 / 42567525,
                                       -929569.0 / 10216206000,
                                       3202291.0 / 97692469875};
static const double NEXT_LN_COSH = 1.195e-5;

/* How far p, over its value, may be off for what the series leaves out. */
static const double SERIES_BAR = 1e-8;

/* K(s) = sum of k[i] s^(2i+2), of which the next term is `next` s^20. */
typedef struct flip_series {
  double k[SERIES], next, largest;
} flip_series;

static void set_series(flip_series *s, const ev_flips *f) {
  *s = (flip_series){.largest = 0};
  for (size_t i = 0; i < f->count; i++) {
    double square = f->sizes[i].d * f->sizes[i].d, power = f->sizes[i].times;
    for (int j = 0; j < SERIES; j++) s->k[j] += power *= square;
    s->next += power * square;
    s->largest = GSL_MAX_DBL(s->largest, f->sizes[i].d);
  }
  for (int j = 0; j < SERIES; j++) s->k[j] *= LN_COSH[j];
  s->next *= NEXT_LN_COSH;
}

/* K(s) at s = c + iy. */
static void series_at(const flip_series *s, double c, double y, double *re, double *im) {
  double a = c * c - y * y, b = 2 * c * y;
  *re = *im = 0;
  for (int j = SERIES; j-- > 0;) {
    double last = *re + s->k[j];
    *re = last * a - *im * b;
    *im = last * b + *im * a;
  }
}

/* K'(c) and K''(c). */
static void series_slopes(const flip_series *s, double c, double *slope, double *variance) {
  *slope = *variance = 0;
  for (int j = SERIES; j-- > 0;) {
    double k = (2 * j + 2) * s->k[j];
    *slope = *slope * c * c + k;
    *variance = *variance * c * c + (2 * j + 1) * k;
  }
  *slope *= c;
}

/* Whether the series will do on the path at c.  |e^K| falls as e^-(y sd)^2/2 to e^-NOTHING, where
** |s| times the largest size must be below pi/2.  What is left out, `next` s^20, matters most where
** (c sd)^2 + (y sd)^2 is 20. */
static bool series_suffices(const flip_series *s, double c, double variance) {
  double z2 = c * c * variance, most = fmax(20, z2);
  bool converges = (z2 + 2 * NOTHING) * gsl_pow_2(s->largest) < gsl_pow_2(M_PI_2) * variance;
  double error = s->next * gsl_pow_int(most / variance, 10) * exp((z2 - most) / 2);
  return converges && error <= SERIES_BAR;
}

/* As inverted_p(), where differences are many and none is large beside the standard deviation of
** T: then nothing but the peak at 0 counts.  EV_TOO_LARGE where that is not so. */
static ev_status series_p(ev_flips *f, double *p) {
  flip_series s;
  double c = 0, slope, variance, re, im, total = 0;
  set_series(&s, f);
  if (ev_flips_interrupted(f, (double)f->count)) return EV_INTERRUPTED;
  series_slopes(&s, c, &slope, &variance);
  for (int i = 0; i < 20 && f->t - slope > 1e-6 * f->t && series_suffices(&s, c, variance); i++) {
    c += (f->t - slope) / variance;
    series_slopes(&s, c, &slope, &variance);
  }
  c = fmax(c, 2 / sqrt(variance));
  series_slopes(&s, c, &slope, &variance);
  if (!series_suffices(&s, c, variance)) return EV_TOO_LARGE;
  series_at(&s, c, 0, &re, &im);
  double ln_peak = re - c * f->t, sd = sqrt(variance);
  double h = 2 * M_PI / fmax(10 * sd, (40 - ln_peak) / c);
  if (quiet_from(f, c) > M_PI_2 / s.largest) return EV_TOO_LARGE;
  for (double y = 0; y * sd < sqrt(2 * NOTHING); y += h) {
    series_at(&s, c, y, &re, &im);
    double r = exp(re - c * f->t - ln_peak) / (c * c + y * y), angle = im - y * f->t;
    total += (y == 0 ? 0.5 : 1) * r * (c * cos(angle) + y * sin(angle));
  }
  *p = fmin(2, fmax(0, 2 * exp(ln_peak) * h / M_PI * total));
  return EV_OK;
}

ev_status ev_flips_inverted(ev_flips *f, double *p) {
  ev_status status = f->period ? EV_TOO_LARGE : series_p(f, p);
  if (status != EV_TOO_LARGE) return status;
  inversion v = {.f = f, .factors = malloc(f->count * sizeof *v.factors)};
  if (!v.factors) return EV_NO_MEMORY;
  f->tries++;
  status = find_flip_path(&v);
  if (status == EV_OK) status = inverted_p(&v, p);
  free(v.factors);
  return status;
}
