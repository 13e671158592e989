/*
** Planning for two models on different questions: the chance that diff_ci leaves 0 out.
**
** It does when P(theta_A > theta_B) is beyond either tail.  That rises with k_a and falls with
** k_b, so that for each k_a the k_b at which A is called better are those below a bound.  Those at
** which B is called better are, with wrong answers counted for right, of the same kind.
**
**   1. Of the two models sum over the counts of the one with fewer that matter: the power is, for
**      either way, the sum over its k of P(k) P(the other's count is below the bound at k).
**   2. Up to 500,000 counts of both, go along the bound: from one count to the next of either
**      model P changes by what is known in closed form.  That takes a microsecond per count.
**   3. With more, but few of the model summed over, find the bound at each k afresh.
**   4. Else sum over every `stride`-th k, with real bounds less a half.  That averages over the
**      saw-tooth of whole bounds, which then is less than 1e-5 of the power.
**   5. A plan is the least n from which on the power stays: with real bounds less 1 the power is
**      below the true one and rises with n.  From where that is enough look down to the first n
**      whose own power is not.
*/
#include "planning.h"

#include <assert.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "binomial.h"
#include "normal.h"
#include "root.h"
#include "unpaired.h"

/* The model whose counts are summed over, and the other. */
typedef struct contest {
  double n, other_n;
  ev_point p, other_p;
  double tail, deviate; /* the normal one of the tail */
  double k;             /* the count whose bound is sought */
} contest;

static ev_beta posterior_of(double k, double n) {
  return ev_beta_make(k + 1, n - k + 1);
}

/* P(theta > theta of the other), and P(theta < theta of the other). */
static ev_point chances_at(const contest *c, double k, double other_k) {
  ev_beta mine = posterior_of(k, c->n), others = posterior_of(other_k, c->other_n);
  return ev_beta_prob_better(&mine, &others);
}

/*
** Where the bound is
*/
static bool not_called_better(double other_k, void *context) {
  const contest *c = context;
  return !(chances_at(c, c->k, other_k).y <= c->tail);
}

/* The distance, in counts, of the other's rate below the model's at the bound, if both were
** normal. */
static double normal_bound(const contest *c, double k) {
  double rate = (k + 1) / (c->n + 2);
  double sd = sqrt(rate * (1 - rate) * (1 / (c->n + 2) + 1 / (c->other_n + 2)));
  return (c->other_n + 2) * (rate - c->deviate * sd) - 1;
}

/* The number of the other's counts below the bound at k; `off` is the distance of the last bound
** from the normal one. */
static double counts_below(contest *c, double k, double *off) {
  double normal = normal_bound(c, k);
  c->k = k;
  double below = ev_least_whole(0, c->other_n + 1, normal + *off, not_called_better, c);
  *off = below - normal;
  return below;
}

/* P(theta > theta of the other) as a normal deviate, which is nearly straight in either count. */
static double deviate_at(const contest *c, double k, double other_k) {
  ev_point p = chances_at(c, k, other_k);
  return ev_deviate_of(p.x, p.y);
}

/* The real bound, between the last whole count below it and the next. */
static double real_bound(const contest *c, double k, double below) {
  if (below < 1 || below > c->other_n) return below - 1;
  double last = deviate_at(c, k, below - 1), next = deviate_at(c, k, below);
  return below - 1 + (last - c->deviate) / (last - next);
}

/*
** Along the bound
*/

/* P(Y > X) of X ~ Beta(a,b), the posterior of a count, and Y ~ Beta(c,d), that of how many of the
** other's counts are below its bound; and B(a+c, b+d) / (B(a,b) B(c,d)). */
typedef struct bound_walk {
  double a, b, c, d, behind, beta;
} bound_walk;

static void compute_behind(const contest *o, bound_walk *w) {
  ev_beta mine = ev_beta_make(w->a, w->b), others = ev_beta_make(w->c, w->d);
  ev_beta pooled = ev_beta_make(w->a + w->c, w->b + w->d);
  ev_point mean = {pooled.mean, pooled.comean};
  w->behind = chances_at(o, w->a - 1, w->c - 1).y;
  w->beta = exp(ev_beta_ln_logit_density(&mine, mean) + ev_beta_ln_logit_density(&others, mean) -
                pooled.ln_peak);
}

/* One more right answer and one wrong answer less of either model: P changes with any of the four
** shapes by `beta` over it (Cook, "Exact calculation of beta inequalities", 2005). */
static void take_step(bound_walk *w, double *right, double *wrong, double side) {
  double share = w->beta / ((w->b + w->d - 1) * *right);
  w->behind += side * share * (w->a + w->b + w->c + w->d - 1);
  w->beta = share * (*wrong - 1) * (w->a + w->c);
  *right += 1;
  *wrong -= 1;
}

/* Whether the next of the other's counts is below the bound too.  Rounding adds up to 1e-11 of P in
** 250,000 counts; if it could decide, P is computed afresh. */
static bool next_is_below(const contest *o, const bound_walk *w) {
  if (w->d < 1) return false;
  bool sure = fabs(w->behind - o->tail) >= 1e-9 * o->tail;
  return (sure ? w->behind : chances_at(o, w->a - 1, w->c - 1).y) <= o->tail;
}

static double power_along(contest *o) {
  ev_window window = ev_binomial_window(o->n, o->p);
  double k = window.least, off = 0, below = counts_below(o, k, &off), sum = 0;
  double others = ev_binomial_at_most(below - 1, o->other_n, o->other_p);
  bound_walk w = {k + 1, o->n - k + 1, below + 1, o->other_n - below + 1, 0, 0};
  if (w.d >= 1) compute_behind(o, &w);
  for (; k <= window.most; k++) {
    while (next_is_below(o, &w)) {
      take_step(&w, &w.c, &w.d, 1);
      others += ev_binomial_pmf(w.c - 2, o->other_n, o->other_p);
    }
    if (isnan(w.behind)) return NAN;
    sum += ev_binomial_pmf(k, o->n, o->p) * others;
    if (w.d >= 1) take_step(&w, &w.a, &w.b, -1);
  }
  return sum;
}

/*
** The power
*/

/* The contest with wrong answers counted as right: the better model becomes the worse. */
static contest reversed_answers(const contest *c) {
  contest r = *c;
  r.p = (ev_point){c->p.y, c->p.x};
  r.other_p = (ev_point){c->other_p.y, c->other_p.x};
  return r;
}

/* The same with the models exchanged: the sum runs over the other model's wrong answers. */
static contest exchanged_models(const contest *c) {
  contest r = reversed_answers(c);
  return (contest){r.other_n, r.n, r.other_p, r.p, r.tail, r.deviate, 0};
}

/* The sum over every stride-th count with a probability of its own for each bound; whole bounds if
** `less` is 0.  Counts are measured from w.least, because from 2^53 on k + 1 is not a double. */
static double power_by_bounds(contest *c, ev_window w, double stride, double less) {
  double sum = 0, mass = 0, off = 0;
  for (double i = 0; i <= w.most - w.least; i += stride) {
    double k = w.least + i, chance = ev_binomial_pmf(k, c->n, c->p);
    if (chance < 1e-18) continue; /* 1,000 such terms do not change a digit of the sum */
    double below = counts_below(c, k, &off);
    double bound = less > 0 ? real_bound(c, k, below) - less : below - 1;
    sum += chance * ev_binomial_at_most(bound, c->other_n, c->other_p);
    mass += chance;
  }
  return sum / mass;
}

/* The power with real bounds minus `less`: a half is the average over whole bounds, 1 a lower
** limit of the power, because no whole bound is that much lower.  The sum takes every stride-th
** count of the model whose rate varies less, on the scale of which the rest is smooth. */
static double smooth_way(const contest *given, double less) {
  ev_window w = ev_binomial_window(given->n, given->p);
  ev_window other = ev_binomial_window(given->other_n, given->other_p);
  contest c = w.sd / given->n <= other.sd / given->other_n ? *given : exchanged_models(given);
  w = ev_binomial_window(c.n, c.p);
  return power_by_bounds(&c, w, fmax(1, floor(w.sd / 2)), less);
}

/* Counts of both models to go along take 0.3 s, 1,000 bounds of their own 0.6 s. */
static const double MOST_DIFF_TERMS = 5e5, MOST_OWN_BOUNDS = 1000;

/* The chance that the model summed over is called better. */
static double one_way(contest *c) {
  ev_window w = ev_binomial_window(c->n, c->p);
  double counts = w.most - w.least + 1;
  if (counts * (1 + (c->other_n + 2) / (c->n + 2)) <= MOST_DIFF_TERMS) return power_along(c);
  return counts <= MOST_OWN_BOUNDS ? power_by_bounds(c, w, 1, 0) : smooth_way(c, 0.5);
}

/* The model with fewer counts that matter is summed over. */
static contest make_contest(double n_a, double n_b, double p_a, double p_b,
                            const ev_options *options) {
  double tail = ev_tail(options), deviate = gsl_cdf_ugaussian_Qinv(tail);
  contest c = {n_a, n_b, {p_a, 1 - p_a}, {p_b, 1 - p_b}, tail, deviate, 0};
  if (ev_binomial_window(n_a, c.p).sd <= ev_binomial_window(n_b, c.other_p).sd) return c;
  return (contest){n_b, n_a, c.other_p, c.p, tail, deviate, 0};
}

static double both_ways(contest c) {
  contest r = reversed_answers(&c);
  return fmin(1, one_way(&c) + one_way(&r));
}

ev_status ev_power_diff(double n_a, double n_b, double p_a, double p_b, const ev_options *options,
                        double *power) {
  *power = both_ways(make_contest(n_a, n_b, p_a, p_b, options));
  return isnan(*power) ? EV_NOT_CONVERGED : EV_OK;
}

/*
** How many questions
*/
typedef struct diff_plan {
  double p_a, p_b, power;
  const ev_options *options;
  double unit; /* of numbers of questions that are surely enough */
  contest c;
} diff_plan;

/* Whether this number of units of questions for each model has the power, wherever on the saw-tooth
** it lies. */
static bool surely_enough(double units, void *context) {
  const diff_plan *w = context;
  double n = units * w->unit;
  contest c = make_contest(n, n, w->p_a, w->p_b, w->options), r = reversed_answers(&c);
  return smooth_way(&c, 1) + smooth_way(&r, 1) >= w->power;
}

static bool enough(double n, void *context) {
  diff_plan *w = context;
  w->c.n = w->c.other_n = n;
  return both_ways(w->c) >= w->power;
}

/* The textbook's number of questions, as a start. */
static double normal_n(const diff_plan *w) {
  double z = gsl_cdf_ugaussian_Qinv(ev_tail(w->options)) + gsl_cdf_ugaussian_Pinv(w->power);
  double spread = w->p_a * (1 - w->p_a) + w->p_b * (1 - w->p_b), apart = w->p_a - w->p_b;
  return z * fmax(z, 0) * spread / (apart * apart);
}

/* The step between numbers of questions to try: long if both models are rarely right, or wrong. */
static double stride_of(const contest *c) {
  return ev_trial_stride(c->n, fmax(fmin(c->p.x, c->p.y), fmin(c->other_p.x, c->other_p.y)));
}

/* How many of them take about a second: 2 to 3 microseconds for each count, and some P. */
static double most_evaluations(const contest *c) {
  ev_window w = ev_binomial_window(c->n, c->p);
  return floor(6e5 / (25 + w.most - w.least));
}

/* About how many must be tried below a number that is surely enough: those within two counts of the
** models' difference. */
static double sawtooth_evaluations(const contest *c) {
  double spread = c->p.x * c->p.y + c->other_p.x * c->other_p.y;
  return (8 + sqrt(c->n / spread)) / stride_of(c);
}

ev_status ev_plan_diff(double p_a, double p_b, double power, const ev_options *options,
                       ev_host host, double *n) {
  diff_plan w = {.p_a = p_a, .p_b = p_b, .power = power, .options = options};
  assert(p_a != p_b);
  double guess = fmin(normal_n(&w), EV_MOST_QUESTIONS);
  w.unit = 1 + floor(sqrt(guess) / 8);
  double most = floor(EV_MOST_QUESTIONS / w.unit);
  double sure = ev_least_whole(1, most, guess / w.unit, surely_enough, &w);
  *n = sure < most ? sure * w.unit : HUGE_VAL;
  if (isinf(*n)) return EV_OK;
  w.c = make_contest(*n, *n, p_a, p_b, options);
  double evaluations = most_evaluations(&w.c);
  return sawtooth_evaluations(&w.c) > evaluations
             ? EV_OK
             : ev_search_down(1, stride_of(&w.c), evaluations, enough, &w, host, n);
}
