/*
** The odds ratio of two models on different questions
**
** Its logarithm X is the difference of two logits, and E e^(sX) a product of four Gammas:
**
**     M(s) = prod over the rising of Gamma(a + s) / Gamma(a)
**          * prod over the falling of Gamma(b - s) / Gamma(b)
**
** in the strip between its poles, from minus the least a to the least b.  Along a line
** Re s = c in the strip,
**
**     P(X > x) = 1/(2 pi) int M(s) e^(-sx) / s dt + [c < 0],   s = c + it,
**
** and what the sum over the midpoints t of steps h gives instead is known too: with L = 2 pi / h,
**
**     h/(2 pi) sum M(s) e^(-sx) / s + 1/(1 + e^(cL))
**         = P(X > x) + sum over k > 0 of (-1)^k e^(ckL) P(X > x + kL)
**                    - sum over k < 0 of (-1)^k e^(ckL) P(X < x + kL).
**
** Chernoff's bound of these aliases says which c and h leave nothing of them.  M along the line
** serves every x, so that Newton's method costs only turns.  1/(1 + e^(cL)) is what the pole of
** 1/s adds, on whichever side of it the line is; the pole at the end of the strip is dealt with
** in the same way where it is close, so that the line may be near it, or beyond.
**
** References:
**   Lugannani and Rice, Adv. Appl. Prob. 12 (1980) 475-490: a tail as an integral by the saddle.
**   Barndorff-Nielsen, Biometrika 73 (1986) 307-322: where Newton's method starts.
*/
#include "unpaired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_log.h>

#include "lanes.h"

enum { ODDS_GAMMAS = 4, ODDS_RISING = 2 };

/* Shapes of the Gammas, the rising two first, each pair in order: exchanging A and B, or right
** and wrong, exchanges the pairs and nothing else. */
typedef struct odds_gammas {
  double shape[ODDS_GAMMAS];
} odds_gammas;

static double odds_sign(int i) {
  return i < ODDS_RISING ? 1 : -1;
}

/*
** Real s
*/

/* Stirling's series serves from here on, to 3e-17 with its seven terms, which are in powers of
** 1/z^2 and begin with the last; a lesser Gamma is reached by its recurrence. */
static const double ODDS_STIRLING = 10;
enum { ODDS_TERMS = 7 };
static const double odds_terms[ODDS_TERMS] = {
    1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12,
};

/* ln Gamma(z) less (z - 1/2) ln z - z + ln(2 pi)/2. */
static double odds_stirling_rest(double z) {
  double w = 1 / (z * z), sum = 0;
  for (int i = 0; i < ODDS_TERMS; i++) sum = sum * w + odds_terms[i];
  return sum / z;
}

/* ln z - 1/(2z) less the derivative of ln Gamma(z): that of the same series. */
static double odds_stirling_slope(double z) {
  double w = 1 / (z * z), sum = 0;
  for (int i = 0; i < ODDS_TERMS; i++) sum = sum * w + (2 * (ODDS_TERMS - i) - 1) * odds_terms[i];
  return sum * w;
}

/* How many factors it takes to bring a Gamma, and the one it is divided by, to where Stirling's
** series serves. */
static int odds_factors(double shape, double place) {
  return (int)fmax(0, ceil(ODDS_STIRLING - fmin(shape, place)));
}

/* K = ln |M| and its derivatives at a real s.  ln Gamma(a + s) - ln Gamma(a) is s times the
** logarithm of where Stirling's series is taken, and a rest; the former add up to s times the
** centre, from which everything else is told: nothing cancels, however large the shapes. */
typedef struct odds_cumulants {
  double s, centre;
  double ln;             /* K - s centre */
  double ln_stirling;    /* the same before the factors are divided by */
  double mean, variance; /* of X weighted by e^(sX); the mean is told from the centre */
} odds_cumulants;

/* Where s is a pole, the factor that is 0 there is left out. */
static odds_cumulants odds_cumulants_at(const odds_gammas *g, double s) {
  odds_cumulants k = {.s = s};
  double at[ODDS_GAMMAS], product = 1;
  for (int i = 0; i < ODDS_GAMMAS; i++) {
    double sign = odds_sign(i), shape = g->shape[i], place = shape + sign * s;
    double divisor = 1, inverses = 0, squares = 0;
    int factors = odds_factors(shape, place);
    for (int j = 0; j < factors; j++) {
      double factor = place + j;
      divisor *= shape + j;
      if (factor == 0) continue;
      product *= fabs(factor);
      double inverse = 1 / factor;
      inverses += inverse;
      squares += inverse * inverse;
    }
    shape += factors;
    at[i] = place + factors;
    double by = sign * s / shape, u = 1 / at[i], w = u * u;
    k.ln_stirling += shape * gsl_sf_log_1plusx_mx(by) - 0.5 * log1p(by) + log(divisor) +
                     (odds_stirling_rest(at[i]) - odds_stirling_rest(shape));
    k.mean -= sign * (inverses + u / 2 + odds_stirling_slope(at[i]));
    k.variance += squares + u + w / 2 + u * w * (1.0 / 6 - w * (1.0 / 30 - w * (1.0 / 42)));
  }
  k.ln = k.ln_stirling - log(product);
  k.centre = log(at[0] / at[2]) + log(at[1] / at[3]);
  return k;
}

/* ln of Chernoff's bound of P(X > x), or for s < 0 of P(X < x); beyond the first pole of what
** that pole leaves of it, about. */
static double ln_chernoff(const odds_cumulants *k, double x) {
  return k->ln - k->s * (x - k->centre);
}

/* The saddle: the s at which X weighted by e^(sX) has its mean about the wanted quantile, in that
** the square of the deviate is 2 (s K' - K).  ln of this deviate by ln of v = -ln(1 - s/end) has a
** slope of 1/2 to 2 or so, which leads Newton's method straight there. */
static odds_cumulants odds_saddle(const odds_gammas *g, double deviate, double *reached) {
  enum { STEPS = 30 };
  double end = g->shape[ODDS_RISING], variance = 0;
  for (int i = 0; i < ODDS_GAMMAS; i++) variance += 1 / g->shape[i];
  double v = log1p(deviate / sqrt(variance) / end);
  odds_cumulants k;
  for (int i = 0; i < STEPS; i++) {
    k = odds_cumulants_at(g, -end * expm1(-v));
    *reached = sqrt(2 * fmax(0, k.s * k.mean - k.ln));
    if (fabs(*reached - deviate) < 0.01 * deviate) break;
    double slope = v * k.s * k.variance * end * exp(-v) / (*reached * *reached);
    v *= exp(fmax(-2, fmin(2, log(deviate / *reached) / slope)));
  }
  return k;
}

/*
** The line
*/

/* The line Re s = c, and x as told from its centre. */
typedef struct odds_line {
  odds_cumulants at; /* c */
  double step, x;
  int order; /* of the pole at the end of the strip, or 0 where that is not close */
  odds_cumulants pole;
} odds_line;

/* e^-33, or 5e-15, of the tail is what aliases may add.  Terms may be e^3 times as large as the
** tail: so rounding came to 4e-14 of a bound at the most, with no limit to 3e-13. */
static const double ODDS_LN_ALIAS = -33, ODDS_LN_LOSS = 3;

/* The strip is 1 longer without its pole, which is worth it where no more than this is left. */
static const double ODDS_POLE = 2;

/* Points on one side of the line, and ln of Chernoff's bound there over that share of the tail. */
enum { ODDS_BOUNDS = 4 };

typedef struct odds_bounds {
  double s[ODDS_BOUNDS], ln[ODDS_BOUNDS];
} odds_bounds;

/* Of a normal X the best of these is 8 of 1/sd away from the saddle; near the end of a strip it
** is close to that. */
static odds_bounds odds_bounds_toward(const odds_gammas *g, const odds_cumulants *saddle,
                                      double end, double x, double ln_tail) {
  static const double shares[ODDS_BOUNDS] = {0.35, 0.5, 0.8, 0.97};
  odds_bounds b;
  double most = 16 / sqrt(saddle->variance), reach = fmax(-most, fmin(most, end - saddle->s));
  for (int i = 0; i < ODDS_BOUNDS; i++) {
    odds_cumulants k = odds_cumulants_at(g, saddle->s + shares[i] * reach);
    b.s[i] = k.s;
    b.ln[i] = fmax(1, ln_chernoff(&k, x) - ln_tail - ODDS_LN_ALIAS);
  }
  return b;
}

/* The least L at which the aliases on one side of the line at c are negligible: their logarithm
** falls by the distance, times L. */
static double odds_period(const odds_bounds *b, double side, double c) {
  double least = HUGE_VAL;
  for (int i = 0; i < ODDS_BOUNDS; i++) {
    double distance = side * (b->s[i] - c);
    if (distance > 0) least = fmin(least, b->ln[i] / distance);
  }
  return least;
}

/* The c at which the same L does for both sides, and the least. */
static double odds_balance(const odds_bounds *below, const odds_bounds *above) {
  double least = HUGE_VAL, c = NAN;
  for (int i = 0; i < ODDS_BOUNDS; i++)
    for (int j = 0; j < ODDS_BOUNDS; j++) {
      double period = (below->ln[i] + above->ln[j]) / (above->s[j] - below->s[i]);
      if (period >= least) continue;
      least = period;
      c = above->s[j] - above->ln[j] / period;
    }
  return c;
}

/* A power of two that goes 16 to 32 times into x.  The line is rounded to such units, so that it
** is seldom swayed by rounding. */
static double odds_unit(double x) {
  int exponent = 0;
  frexp(x, &exponent);
  return ldexp(1, exponent - 5);
}

/* About the wanted quantile: Barndorff-Nielsen's deviate has the tail at the saddle, and by the
** density there this is one step of Newton's method on.  Saddles are kept from 0, where that
** deviate is 0 over 0. */
static double odds_guess(const odds_cumulants *saddle, double deviate, double tail) {
  double sd = sqrt(saddle->variance);
  double there = gsl_cdf_ugaussian_Q(deviate + log(saddle->s * sd / deviate) / deviate);
  double density = exp(-deviate * deviate / 2) / sqrt(2 * M_PI) / sd;
  return saddle->centre + saddle->mean + log(there / tail) * there / density;
}

/* The line with the fewest steps, or if terms were too large there, one closer to the saddle.
** Near the pole it is its part of M without it that says how large they are. */
static odds_line odds_line_for(const odds_gammas *g, double tail) {
  double deviate, ln_tail = log(tail), end = g->shape[ODDS_RISING];
  odds_cumulants saddle = odds_saddle(g, fmax(0.05, gsl_cdf_ugaussian_Qinv(tail)), &deviate);
  double x = odds_guess(&saddle, deviate, tail);
  odds_line line = {.order = 0};
  if (end - saddle.s < ODDS_POLE) {
    line.order = g->shape[ODDS_RISING + 1] == end ? 2 : 1;
    line.pole = odds_cumulants_at(g, end);
  }
  odds_bounds above = odds_bounds_toward(g, &saddle, end + (line.order > 0), x, ln_tail);
  odds_bounds below = odds_bounds_toward(g, &saddle, -g->shape[0], x, ln_tail);
  double unit = odds_unit(fmin(1, 1 / sqrt(saddle.variance))), c = odds_balance(&below, &above);
  for (int i = 0; i < 6; i++) {
    line.at = odds_cumulants_at(g, unit * rint(c / unit));
    bool at_pole = line.order > 0 && fabs(line.at.s - end) < 0.25;
    if (ln_chernoff(at_pole ? &line.pole : &line.at, x) < ln_tail + ODDS_LN_LOSS) break;
    c = (c + saddle.s) / 2;
  }
  line.x = x - line.at.centre;
  double step =
      2 * M_PI / fmax(odds_period(&below, -1, line.at.s), odds_period(&above, 1, line.at.s));
  line.step = odds_unit(step) * floor(step / odds_unit(step));
  return line;
}

/*
** M along the line
*/

/* One Gamma on the line: where it is, and the factors until where its series is taken. */
typedef struct odds_place {
  double place, sign;
  int factors;
  double at, inverse, rest;
} odds_place;

static odds_place odds_place_of(double shape, double sign, double c) {
  odds_place p = {.place = shape + sign * c, .sign = sign};
  p.factors = odds_factors(shape, p.place);
  p.at = p.place + p.factors;
  p.inverse = 1 / p.at;
  p.rest = odds_stirling_rest(p.at);
  return p;
}

/* Four numbers, e^(ln + i angle) / (re + i im). */
typedef struct odds_quotient {
  ev_lanes ln, angle, re, im;
} odds_quotient;

EV_INLINE void odds_divide(odds_quotient *q, double re, const ev_lanes *im) {
  ev_lanes product = q->re * re - q->im * *im;
  q->im = q->re * *im + q->im * re;
  q->re = product;
}

/* Gamma(Z) over Gamma(at), Z = at (1 + ir), t ln(at) being left to the centre: by Stirling's
** formula the logarithm is (1+ir) ln(1+ir) - ir, times `at`, less half of ln(1+ir) = l + i theta,
** and what the series in 1/Z adds.  theta - r cancels where r is small, but leaves t times the
** last digit: that is what the last digit of x makes as well. */
EV_INLINE void odds_stirling(const odds_place *p, const ev_lanes *t, odds_quotient *q) {
  ev_lanes r = *t * p->inverse, l = r * r, theta, one = {1, 1, 1, 1}, scale = p->inverse / (1 + l);
  ev_log1p(&l, 1);
  l *= 0.5;
  ev_angle(&one, &r, &theta);
  ev_lanes u_re = scale, u_im = -r * scale; /* 1/Z, and its square */
  ev_lanes w_re = u_re * u_re - u_im * u_im, w_im = 2 * u_re * u_im, re = {0}, im = {0};
#pragma GCC unroll 7
  for (int i = 0; i < ODDS_TERMS; i++) {
    ev_lanes next = re * w_re - im * w_im + odds_terms[i];
    im = re * w_im + im * w_re;
    re = next;
  }
  q->ln += p->at * (l - r * theta) - 0.5 * l + ((re * u_re - im * u_im) - p->rest);
  q->angle += p->sign * (p->at * ((theta - r) + r * l) - 0.5 * theta + (re * u_im + im * u_re));
}

/* M/s at four points of the line, over e^(ln_stirling + s centre); gives the square of the last
** one's size. */
EV_WIDE static double odds_values(const odds_place *places, double c, double step, int group,
                                  ev_lanes *re, ev_lanes *im) {
  ev_lanes t = ((ev_lanes){0.5, 1.5, 2.5, 3.5} + EV_LANES * group) * step, cosine, sine;
  odds_quotient q = {.re = {c, c, c, c}, .im = t};
  for (int i = 0; i < ODDS_GAMMAS; i++) {
    const odds_place *p = &places[i];
    ev_lanes height = p->sign * t;
    for (int j = 0; j < p->factors; j++) odds_divide(&q, p->place + j, &height);
    odds_stirling(p, &t, &q);
  }
  ev_turn(&q.angle, &cosine, &sine);
  ev_exp(&q.ln, 1);
  q.ln /= q.re * q.re + q.im * q.im;
  *re = q.ln * (cosine * q.re + sine * q.im);
  *im = q.ln * (sine * q.re - cosine * q.im);
  double last_re = (*re)[EV_LANES - 1], last_im = (*im)[EV_LANES - 1];
  return last_re * last_re + last_im * last_im;
}

/* 63 groups of four points were the most seen in 600,000 random calls of up to 2^53 questions, at
** levels up to 1 - 1e-16. */
enum { ODDS_GROUPS = 128 };

typedef struct odds_values_kept {
  int groups;
  ev_lanes re[ODDS_GROUPS], im[ODDS_GROUPS];
} odds_values_kept;

/* What those are to be multiplied by at x. */
static double odds_scale(const odds_line *line) {
  return exp(line->at.ln_stirling - line->at.s * line->x);
}

/* |M/s| falls along the line, in the end at least like e^(-pi t / 2): once it is small, so is
** what follows.  False when there is no room until then. */
static bool odds_fill(const odds_gammas *g, const odds_line *line, double tail,
                      odds_values_kept *kept) {
  odds_place places[ODDS_GAMMAS];
  for (int i = 0; i < ODDS_GAMMAS; i++)
    places[i] = odds_place_of(g->shape[i], odds_sign(i), line->at.s);
  double least = 1e-16 * tail / odds_scale(line);
  for (int i = 0; i < ODDS_GROUPS; i++) {
    double square = odds_values(places, line->at.s, line->step, i, &kept->re[i], &kept->im[i]);
    kept->groups = i + 1;
    if (square < least * least) return true;
  }
  return false;
}

/*
** The quantile
*/

/* P(X > x), or a part of it, and the density that it has. */
typedef struct odds_tail {
  double p, density;
} odds_tail;

/* The sums of the real parts of M/s e^(-ixt) and M e^(-ixt), given the first e^(-ixt), which is
** that of half a step. */
EV_WIDE static void odds_turn(const odds_values_kept *kept, double c, double step, double first_re,
                              double first_im, odds_tail *sum) {
  double one_re = first_re * first_re - first_im * first_im, one_im = 2 * first_re * first_im;
  double two_re = one_re * one_re - one_im * one_im, two_im = 2 * one_re * one_im;
  double four_re = two_re * two_re - two_im * two_im, four_im = 2 * two_re * two_im;
  ev_lanes re = {first_re}, im = {first_im}, p = {0}, density = {0};
  for (int i = 1; i < EV_LANES; i++) {
    re[i] = re[i - 1] * one_re - im[i - 1] * one_im;
    im[i] = re[i - 1] * one_im + im[i - 1] * one_re;
  }
  ev_lanes t = (ev_lanes){0.5, 1.5, 2.5, 3.5} * step;
  for (int i = 0; i < kept->groups; i++) {
    ev_lanes real = kept->re[i] * re - kept->im[i] * im;
    ev_lanes imaginary = kept->re[i] * im + kept->im[i] * re;
    p += real;
    density += c * real - t * imaginary;
    ev_lanes next = re * four_re - im * four_im;
    im = re * four_im + im * four_re;
    re = next;
    t += EV_LANES * step;
  }
  *sum = (odds_tail){ev_sum(&p), ev_sum(&density)};
}

static odds_tail odds_sums(const odds_values_kept *kept, const odds_line *line) {
  double angle = line->x * line->step / 2, scale = odds_scale(line) * line->step / M_PI;
  odds_tail sum;
  odds_turn(kept, line->at.s, line->step, cos(angle), -sin(angle), &sum);
  return (odds_tail){scale * sum.p, scale * sum.density};
}

/* What the pole at the end of the strip, s, adds to the sum along the line: with K that without
** the pole, it is e^(K - sx) / s of the tail, or x + 1/s - K' times that where the pole is a double
** one, and then as much as its aliases leave. */
static odds_tail odds_pole(const odds_line *line) {
  const odds_cumulants *pole = &line->pole;
  double end = pole->s, period = 2 * M_PI / line->step;
  double x = line->x + (line->at.centre - pole->centre);
  double beyond = 1 / (1 + exp((end - line->at.s) * period));
  double scale = exp(pole->ln - end * x) / end * beyond;
  if (line->order == 1) return (odds_tail){scale, end * scale};
  double within = 1 / (1 + exp((line->at.s - end) * period));
  double p = scale * ((x - pole->mean) + 1 / end + period * within);
  return (odds_tail){p, end * p - scale};
}

/* The x that X is above with the probability `tail`, at most 1/2.  ln P(X > x) is concave, which
** makes Newton's method settle; a step about squares how far it is off. */
static ev_status odds_upper(const odds_gammas *g, double tail, double *upper) {
  enum { STEPS = 20 };
  odds_values_kept kept;
  odds_line line = odds_line_for(g, tail);
  if (!(line.step > 0) || !odds_fill(g, &line, tail, &kept)) return EV_NOT_CONVERGED;
  double origin = 1 / (1 + exp(2 * M_PI * line.at.s / line.step));
  for (int i = 0; i < STEPS; i++) {
    odds_tail at = odds_sums(&kept, &line), pole = {0, 0};
    if (line.order > 0) pole = odds_pole(&line);
    at.p += origin + pole.p;
    at.density += pole.density;
    double off = log(at.p / tail);
    if (!(at.p > 0 && at.density > 0)) return EV_NOT_CONVERGED;
    line.x += fmax(-3, fmin(3, off)) * at.p / at.density;
    if (fabs(off) < 1e-8) {
      *upper = line.at.centre + line.x;
      return EV_OK;
    }
  }
  return EV_NOT_CONVERGED;
}

ev_status ev_odds_ratio(const double *c, const ev_options *options, ev_interval *ci) {
  assert(c[0] >= 0 && c[0] <= c[1] && c[1] >= 1);
  assert(c[2] >= 0 && c[2] <= c[3] && c[3] >= 1);
  double right_a = c[0] + 1, wrong_a = c[1] - c[0] + 1;
  double right_b = c[2] + 1, wrong_b = c[3] - c[2] + 1;
  odds_gammas g = {{fmin(right_a, wrong_b), fmax(right_a, wrong_b), fmin(wrong_a, right_b),
                    fmax(wrong_a, right_b)}};
  odds_gammas mirrored = {{g.shape[2], g.shape[3], g.shape[0], g.shape[1]}};
  double lower, upper, tail = ev_tail(options);
  ev_status status = odds_upper(&g, tail, &upper);
  if (status == EV_OK) status = odds_upper(&mirrored, tail, &lower);
  /* Where they are so many, and the level so low, that the bounds are one number, rounding is
  ** not to cross them. */
  if (status == EV_OK) *ci = (ev_interval){exp(fmin(-lower, upper)), exp(fmax(-lower, upper))};
  return status;
}
