/*
** Planning for two models on different questions: the chance that diff_ci leaves 0 out.
**
** It does when P(theta_A > theta_B) is beyond either tail.  That rises with k_a and falls
** with k_b, so that for each k_a the k_b at which A is called better are those below a
** bound, and those at which B is are, counting wrong answers for right, of the same kind.
** So the power is, for either way, a sum over the k of one model of the chance that the
** other's is below a bound, which only rises with k.
**
** The sum goes along the bound: from one count to the next of either model P changes by
** what is known in closed form, and so do the binomial chances (binomial.h).  That is
** exact, and takes nanoseconds a count.  With more than a million counts to go along, and
** more than a thousand of the model with fewer that matter, the sum is over every so
** manyth, with real bounds less a half: P is defined for real counts too.  That averages
** over the saw-tooth which whole bounds make, less than 1e-6 of the power then.
*/
#include "planning.h"

#include <assert.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "binomial.h"
#include "chebyshev.h"
#include "root.h"
#include "unpaired.h"

/* The model whose counts are summed over, and the other. */
typedef struct contest {
  double n, other_n;
  ev_point p, other_p;
  double tail, deviate; /* the normal one of the tail */
} contest;

static ev_beta posterior_of(double k, double n) {
  return ev_beta_make(k + 1, n - k + 1);
}

/* P(theta of the other > theta); where it is small it has its digits. */
static double chance_behind(const contest *c, double k, double other_k) {
  ev_beta mine = posterior_of(k, c->n), others = posterior_of(other_k, c->other_n);
  return ev_beta_prob_better(&mine, &others).y;
}

/*
** Where the bound is
*/

/* P(theta > theta of the other) as a normal deviate, which is nearly straight in either
** count. */
static double deviate_at(const contest *c, double k, double other_k) {
  ev_beta mine = posterior_of(k, c->n), others = posterior_of(other_k, c->other_n);
  ev_point p = ev_beta_prob_better(&mine, &others);
  return p.x < p.y ? gsl_cdf_ugaussian_Pinv(p.x) : gsl_cdf_ugaussian_Qinv(p.y);
}

static double normal_bound(const contest *c, double k, double *sd) {
  double rate = (k + 1) / (c->n + 2);
  *sd = sqrt(rate * (1 - rate) * (1 / (c->n + 2) + 1 / (c->other_n + 2)));
  return (c->other_n + 2) * (rate - c->deviate * *sd) - 1;
}

/* The other's real count, from -1 to n + 1, at which that deviate is the tail's; it falls
** with the count.  The secant method within a bracket, from so much off the normal bound,
** which is found anew. */
static double real_bound(const contest *c, double k, double *off) {
  ev_bracket in = {-1, c->other_n + 1};
  double sd, normal = normal_bound(c, k, &sd), x = normal + *off, last = NAN, f_last = NAN;
  double near = 1e-8 + 1e-14 * c->other_n; /* what P, and a count of so many, can tell */
  for (int i = 0; i < 100; i++) {
    if (!(x > in.low && x < in.high)) x = (in.low + in.high) / 2;
    double f = deviate_at(c, k, x) - c->deviate;
    if (isnan(f)) return NAN;
    /* The first slope is the normal one; where P is nothing there is none. */
    double slope = i ? (f - f_last) / (x - last) : -1 / ((c->other_n + 2) * sd);
    double step = isfinite(slope) && isfinite(f) ? f / slope : HUGE_VAL;
    last = x;
    f_last = f;
    x = ev_bracket_next(&in, x, !(f > 0), x - step);
    /* The secant method squares what is left, about. */
    if (fabs(step) < near || (i && fabs(step) < 1e-4) || in.high - in.low < near) {
      x = fmax(-1, fmin(last - step, c->other_n + 1));
      *off = x - normal;
      return x;
    }
  }
  return NAN;
}

/* The last whole count below a real bound; P itself decides about one that is next to it. */
static double settle(const contest *c, double k, double bound) {
  double whole = nearbyint(bound);
  if (fabs(bound - whole) > 1e-3 || whole < 0 || whole > c->other_n) return floor(bound);
  return chance_behind(c, k, whole) <= c->tail ? whole : whole - 1;
}

/* How many of the other's counts are below the bound: from a guess on, by steps that double
** until they have it between them. */
static double counts_below(const contest *c, double k, double guess) {
  double some = c->other_n + 1, below = fmax(0, fmin(guess, some)), step = 1;
  double least = 0, most = some; /* those of the other below `least` are, none from `most` on is */
  while (least < most) {
    double behind = below < some ? chance_behind(c, k, below) : HUGE_VAL;
    if (isnan(behind)) return NAN;
    if (behind <= c->tail)
      least = below + 1;
    else
      most = below;
    bool bracketed = least > 0 && most < some;
    below = bracketed ? floor((least + most) / 2) : behind <= c->tail ? least + step : most - step;
    below = fmax(least, fmin(below, most - 1));
    step *= 2;
  }
  return least;
}

/*
** Along the bound
*/
typedef struct bound_walk {
  contest c;
  double k, below;            /* and how many of the other's counts are below the bound */
  double behind, beta;        /* P there, and B(a+c, b+d) / (B(a,b) B(c,d)) of the two posteriors */
  ev_cumulative mine, others; /* at k, and at the last count below */
  int steps;                  /* since `behind` was computed afresh */
} bound_walk;

/* P changes to and fro by a part of its standard deviation's worth a step, so that rounding
** adds up to some 1e-14 of it. */
enum { MOST_WALK_STEPS = 4096 };

static void compute_behind(bound_walk *w) {
  ev_beta mine = posterior_of(w->k, w->c.n), others = posterior_of(w->below, w->c.other_n);
  ev_beta pooled = ev_beta_make(mine.a + others.a, mine.b + others.b);
  ev_point mean = {pooled.mean, pooled.comean};
  w->behind = chance_behind(&w->c, w->k, w->below);
  w->beta = exp(ev_beta_ln_logit_density(&mine, mean) + ev_beta_ln_logit_density(&others, mean) -
                pooled.ln_peak);
  w->steps = 0;
}

static bound_walk start_walk(const contest *c, double k, double guess) {
  bound_walk w = {.c = *c, .k = k, .below = counts_below(c, k, guess)};
  w.mine = ev_cumulative_at(k, c->n, c->p);
  w.others = ev_cumulative_at(w.below - 1, c->other_n, c->other_p);
  if (w.below <= c->other_n) compute_behind(&w);
  return w;
}

/* P(Y > X) of X ~ Beta(a,b) and Y ~ Beta(c,d) changes with any of the four by `beta` over
** it (Cook, "Exact calculation of beta inequalities", 2005); here one more right answer is
** one wrong answer less. */
static void next_of_mine(bound_walk *w) {
  double a = w->k + 1, b = w->c.n - w->k + 1, c = w->below + 1, d = w->c.other_n - w->below + 1;
  w->k++;
  ev_next_count(&w->mine);
  if (d < 1) return; /* every count of the other is below */
  if (++w->steps >= MOST_WALK_STEPS) {
    compute_behind(w);
    return;
  }
  double share = w->beta / ((b + d - 1) * a);
  w->behind -= share * (a + b + c + d - 1);
  w->beta = share * (b - 1) * (a + c);
}

static void next_of_others(bound_walk *w) {
  double a = w->k + 1, b = w->c.n - w->k + 1, c = w->below + 1, d = w->c.other_n - w->below + 1;
  w->below++;
  ev_next_count(&w->others);
  if (d <= 1) return;
  if (++w->steps >= MOST_WALK_STEPS) {
    compute_behind(w);
    return;
  }
  double share = w->beta / ((b + d - 1) * c);
  w->behind += share * (a + b + c + d - 1);
  w->beta = share * (d - 1) * (a + c);
}

/* Whether the next of the other's counts is below the bound too; what rounding could
** decide, P afresh does. */
static bool next_is_below(bound_walk *w) {
  if (w->below > w->c.other_n) return false;
  if (w->steps && fabs(w->behind - w->c.tail) < 1e-9 * w->c.tail) compute_behind(w);
  return w->behind <= w->c.tail;
}

/* From the guess at the first bound, which is set. */
static double power_along(const contest *c, ev_window window, double *guess) {
  bound_walk w = start_walk(c, window.least, *guess);
  double sum = 0;
  *guess = w.below;
  for (;;) {
    while (next_is_below(&w)) next_of_others(&w);
    sum += w.mine.at * w.others.at_most;
    if (w.k >= window.most) break;
    next_of_mine(&w);
  }
  return isnan(w.below) || isnan(w.behind) ? NAN : sum;
}

/*
** The power
*/
enum { BOUND_TERMS = 24 };
static const double FEW_COUNTS = 32;

/* The series of the real bounds over a window; false where it does not tell them to a ten
** thousandth of a count, or as well as P can, whose last digits are worth so many counts. */
static bool fit_bounds(const contest *c, double centre, double half, double *series) {
  double roots[BOUND_TERMS], bounds[BOUND_TERMS], off = 0;
  for (int i = 0; i < BOUND_TERMS; i++) {
    roots[i] = cos(M_PI * (i + 0.5) / BOUND_TERMS);
    bounds[i] = real_bound(c, centre + half * roots[i], &off);
  }
  ev_chebyshev_from_roots(BOUND_TERMS, roots, bounds, series);
  double left = fabs(series[BOUND_TERMS - 1]) + fabs(series[BOUND_TERMS - 2]);
  double sd;
  normal_bound(c, centre, &sd);
  return !(left > fmax(1e-4, 1e-11 * c->other_n * sd));
}

/* Over a window, each count on its own; in halves where its bounds do not fit a series. */
static double power_between(const contest *c, double least, double most) {
  double centre = (least + most) / 2, half = (most - least) / 2, off = 0, sum = 0;
  double series[BOUND_TERMS];
  bool interpolated = most - least > FEW_COUNTS;
  if (interpolated && !fit_bounds(c, centre, half, series))
    return power_between(c, least, floor(centre)) + power_between(c, floor(centre) + 1, most);
  for (double i = 0; i <= most - least; i++) {
    double k = least + i, x = (k - centre) / half, bound;
    if (interpolated)
      ev_chebyshev_at(series, BOUND_TERMS - 1, 1, &x, &bound);
    else
      bound = real_bound(c, k, &off);
    sum += ev_binomial_pmf(k, c->n, c->p) *
           ev_binomial_at_most(settle(c, k, bound), c->other_n, c->other_p);
  }
  return sum;
}

/* Wrong answers counted for right: who was the better is the worse. */
static contest reversed_answers(const contest *c) {
  contest r = *c;
  r.p = (ev_point){c->p.y, c->p.x};
  r.other_p = (ev_point){c->other_p.y, c->other_p.x};
  return r;
}

/* The same the other way round: it is the other's wrong answers that are summed over. */
static contest exchanged_models(const contest *c) {
  contest r = reversed_answers(c);
  return (contest){r.other_n, r.n, r.other_p, r.p, r.tail, r.deviate};
}

/* With real bounds, less what they may have on whole ones: a half is the average, 1 is a
** lower limit of the power, for no whole bound is that much lower.  Over every so manyth
** count of the model whose rate varies less, on the scale of which the rest is smooth. */
static double smooth_way(const contest *given, double less) {
  ev_window w = ev_binomial_window(given->n, given->p);
  ev_window other = ev_binomial_window(given->other_n, given->other_p);
  contest c = w.sd / given->n <= other.sd / given->other_n ? *given : exchanged_models(given);
  w = ev_binomial_window(c.n, c.p);
  double stride = fmax(1, floor(w.sd / 2)), sum = 0, mass = 0, off = 0;
  /* By distances: from 2^53 on there is no next count. */
  for (double i = 0; i <= w.most - w.least; i += stride) {
    double k = w.least + i, chance = ev_binomial_pmf(k, c.n, c.p);
    if (chance < 1e-18) continue;
    double bound = real_bound(&c, k, &off);
    if (isnan(bound)) return NAN;
    sum += chance * ev_binomial_at_most(bound - less, c.other_n, c.other_p);
    mass += chance;
  }
  return sum / mass;
}

static const double MOST_DIFF_TERMS = 1e6, FEW_DIFF_TERMS = 20000;

/* The chance that the model summed over is called better. */
static double one_way(const contest *c, double *guess) {
  ev_window w = ev_binomial_window(c->n, c->p);
  double counts = w.most - w.least + 1;
  if (counts * (1 + (c->other_n + 2) / (c->n + 2)) <= MOST_DIFF_TERMS)
    return power_along(c, w, guess);
  return counts <= FEW_DIFF_TERMS ? power_between(c, w.least, w.most) : smooth_way(c, 0.5);
}

/* The model with fewer counts that matter is summed over. */
static contest make_contest(double n_a, double n_b, double p_a, double p_b,
                            const ev_options *options) {
  double tail = ev_tail(options);
  contest c = {n_a, n_b, {p_a, 1 - p_a}, {p_b, 1 - p_b}, tail, gsl_cdf_ugaussian_Qinv(tail)};
  if (ev_binomial_window(n_a, c.p).sd <= ev_binomial_window(n_b, c.other_p).sd) return c;
  return (contest){n_b, n_a, c.other_p, c.p, c.tail, c.deviate};
}

/* With guesses at the first bound of either way. */
static double both_ways(const contest *c, double *guesses) {
  contest r = reversed_answers(c);
  return fmin(1, one_way(c, &guesses[0]) + one_way(&r, &guesses[1]));
}

static double first_guess(const contest *c) {
  double sd;
  return ceil(normal_bound(c, ev_binomial_window(c->n, c->p).least, &sd));
}

ev_status ev_power_diff(double n_a, double n_b, double p_a, double p_b, const ev_options *options,
                        double *power) {
  contest c = make_contest(n_a, n_b, p_a, p_b, options), r = reversed_answers(&c);
  double guesses[] = {first_guess(&c), first_guess(&r)};
  *power = both_ways(&c, guesses);
  return isnan(*power) ? EV_NOT_CONVERGED : EV_OK;
}

/*
** How many questions
*/
typedef struct wish {
  double p_a, p_b, power;
  const ev_options *options;
} wish;

/* The least power that n questions of each can have, whatever the saw-tooth. */
static double least_power(const wish *w, double n) {
  contest c = make_contest(n, n, w->p_a, w->p_b, w->options), r = reversed_answers(&c);
  return smooth_way(&c, 1) + smooth_way(&r, 1);
}

/* The textbook's number, to start from. */
static double normal_n(const wish *w) {
  double z = gsl_cdf_ugaussian_Qinv(ev_tail(w->options)) + gsl_cdf_ugaussian_Pinv(w->power);
  double spread = w->p_a * (1 - w->p_a) + w->p_b * (1 - w->p_b), apart = w->p_a - w->p_b;
  return fmax(1, fmin(EV_MOST_QUESTIONS, ceil(z * fmax(z, 0) * spread / (apart * apart))));
}

/* An n whose least power is what is wished for, hardly larger than it has to be, and an n
** whose is not: the least power rises with n. */
static double sure_n(const wish *w) {
  ev_bracket in = {0, fmin(EV_MOST_QUESTIONS, normal_n(w))};
  for (double more = sqrt(in.high); least_power(w, in.high) < w->power; more *= 2) {
    if (in.high == EV_MOST_QUESTIONS) return HUGE_VAL;
    in.low = in.high;
    in.high = fmin(EV_MOST_QUESTIONS, ceil(in.high + more));
  }
  for (double n = (in.low + in.high) / 2; in.high - in.low > 1 + sqrt(in.high) / 8;) {
    n = floor(n);
    n = ev_bracket_next(&in, n, least_power(w, n) >= w->power, NAN);
  }
  return in.high;
}

/* Between numbers of questions to look at: both models may be rarely right, or rarely wrong. */
static double stride_of(const contest *c) {
  return ev_look_stride(c->n, fmax(fmin(c->p.x, c->p.y), fmin(c->other_p.x, c->other_p.y)));
}

/* How many of them take less than a second: each costs its counts, and some P, of 10,000
** counts' time. */
static double most_looks(const contest *c) {
  ev_window w = ev_binomial_window(c->n, c->p);
  return floor(2e7 / (20000 + 4 * (w.most - w.least)));
}

/* And about how many below a sure one there may be to look at: by two counts of the
** difference of the two. */
static double saw_tooth_looks(const contest *c) {
  double spread = c->p.x * c->p.y + c->other_p.x * c->other_p.y;
  return (8 + sqrt(c->n / spread)) / stride_of(c);
}

static bool enough(contest *c, double n, double power, double *guesses) {
  c->n = c->other_n = n;
  return both_ways(c, guesses) >= power;
}

/* From n, which is enough, down to the first that is not, by strides, in the last of which a
** bisection finds it. */
static ev_status look_down(contest *c, double power, ev_host host, double *n) {
  contest r = reversed_answers(c);
  double guesses[] = {first_guess(c), first_guess(&r)};
  double stride = stride_of(c), most = most_looks(c), below = *n - stride;
  for (int i = 0; i < most && below >= 1 && enough(c, below, power, guesses); i++) {
    below -= stride;
    if (ev_interrupted(host)) return EV_INTERRUPTED;
  }
  ev_bracket in = {fmax(0, below), below + stride};
  for (double middle = (in.low + in.high) / 2; in.high - in.low > 1;) {
    middle = floor(middle);
    middle = ev_bracket_next(&in, middle, enough(c, middle, power, guesses), NAN);
  }
  *n = in.high;
  return EV_OK;
}

ev_status ev_plan_diff(double p_a, double p_b, double power, const ev_options *options,
                       ev_host host, double *n) {
  wish w = {p_a, p_b, power, options};
  assert(p_a != p_b);
  *n = sure_n(&w);
  if (isinf(*n)) return EV_OK;
  contest c = make_contest(*n, *n, p_a, p_b, options);
  return saw_tooth_looks(&c) > most_looks(&c) ? EV_OK : look_down(&c, power, host, n);
}
