/*
** Bradley and Terry's model of votes, with Davidson's ties (J. Am. Stat. Assoc. 65 (1970) 317-328).
**
** With D = lambda_a - lambda_b, plus gamma where the first place may have an advantage,
**
**     P(a) = e^(D/2)/Z,   P(b) = e^(-D/2)/Z,   P(tie) = nu/Z,   Z = e^(D/2) + e^(-D/2) + nu.
**
** The prior is flat in the differences of lambda, in ln nu and in gamma, and imagines that each
** model has won once and lost once, spread evenly over the others: 1/(m-1) wins either way in
** every pair.  The posterior is log-concave and proper for all votes; of two models P(a | decided)
** has Beta(1 + wins, 1 + losses), ties or not.  Without a tie nu is 0.
**
**   1. votes_posterior.c has the maximum and the marginals of contrasts c'theta, by Laplace's
**      method.  marginal.h normalises one, and finds its quantiles.
**   2. P(lambda_a < lambda_b) of two models is the Beta's.  Else it is Phi(r*), r* = r + ln(q/r)/r
**      (Barndorff-Nielsen; DiCiccio and Martin, Biometrika 78 (1991) 891-902), from one constrained
**      maximum: r the signed root of twice the fall of ln post, q = -(d ln post / dx) sd (det
**      N'H(x)N / det N'H(max)N)^(1/2).
**   3. Two models are told apart if 2 min(P, 1-P) is at most 1 - level after Holm's correction
**      over all pairs; a rank's range counts those.
*/
#include "votes.h"

#include <stdlib.h>
#include <string.h>

#include "beta.h"
#include "normal.h"
#include "votes_posterior.h"

/* 1e-9 of the density moves a bound by less than 1e-9 sd; e^-25 of the tail is 1e-11.  With a
** hundredth, pairs of 100 models take up to twice as long. */
static const double VOTES_TOLERANCE = 1e-9, VOTES_LN_DROP = 25;
/* Rounding of ln det where some models have 10^9 votes and others none. */
static const double VOTES_ACCEPTABLE = 1e-6;
enum { VOTES_BUDGET = 1000 };

/* The interval of the contrast that c was set to. */
static ev_status find_rating_interval(ev_votes_posterior *v, const ev_options *options, double at,
                                      ev_contrast *out) {
  if (v->status != EV_OK) return v->status;
  double tail = ev_tail(options), drop = VOTES_LN_DROP - log(tail);
  ev_search search = {.ln_density = ev_votes_ln_marginal,
                      .context = v,
                      .width = sqrt(2.2 * drop) * v->sd,
                      .ln_drop = drop,
                      .tolerance = fmax(VOTES_TOLERANCE, v->rounding),
                      .tail = tail,
                      .budget = VOTES_BUDGET,
                      .acceptable = VOTES_ACCEPTABLE};
  ev_interval x;
  ev_status status = ev_marginal_find(&v->marginal, &search);
  if (status == EV_OK) status = ev_marginal_interval(&v->marginal, tail, &x);
  if (v->status != EV_OK) return v->status;
  if (status == EV_OK) *out = (ev_contrast){at, {at + x.lo, at + x.hi}};
  return status;
}

/* The contrast of a model's ability, in part. */
static void weigh(ev_votes_posterior *v, size_t model, double weight) {
  if (v->order[model] < v->lambdas) v->c[v->order[model]] += weight;
}

static void no_contrast(ev_votes_posterior *v) {
  memset(v->c, 0, v->size * sizeof *v->c);
  v->c2 = 0;
}

static double ability(const ev_votes_posterior *v, size_t model) {
  return v->order[model] < v->lambdas ? v->theta[v->order[model]] : 0;
}

static double mean_ability(const ev_votes_posterior *v) {
  double sum = 0;
  for (size_t i = 0; i < v->lambdas; i++) sum += v->theta[i];
  return sum / (double)v->models;
}

/* Relative to the mean of all. */
static ev_status rate_average(ev_votes_posterior *v, const ev_options *options, size_t model,
                              ev_contrast *out) {
  no_contrast(v);
  for (size_t i = 0; i < v->models; i++) weigh(v, i, (i == model) - 1.0 / (double)v->models);
  ev_votes_contrast(v);
  return find_rating_interval(v, options, ability(v, model) - mean_ability(v), out);
}

/* c becomes that of two models' difference, whose value at the maximum is returned. */
static double set_pair(ev_votes_posterior *v, size_t a, size_t b) {
  no_contrast(v);
  weigh(v, a, 1);
  weigh(v, b, -1);
  ev_votes_contrast(v);
  return ability(v, a) - ability(v, b);
}

/* Whether the votes stay what they are when two models are exchanged. */
static bool are_alike(const ev_votes *votes, size_t i, size_t j) {
  for (size_t k = 0; k < votes->models; k++) {
    size_t other = k == i ? j : k == j ? i : k;
    if (ev_votes_wins(votes, i, k) != ev_votes_wins(votes, j, other) ||
        ev_votes_losses(votes, i, k) != ev_votes_losses(votes, j, other) ||
        ev_votes_ties(votes, i, k) != ev_votes_ties(votes, j, other) ||
        ev_votes_wins(votes, k, i) != ev_votes_wins(votes, other, j) ||
        ev_votes_losses(votes, k, i) != ev_votes_losses(votes, other, j) ||
        ev_votes_ties(votes, k, i) != ev_votes_ties(votes, other, j))
      return false;
  }
  return true;
}

/* r* at x, which is not the maximum. */
static double r_star(ev_votes_posterior *v, double x) {
  double ln = ev_votes_ln_marginal(x, v);
  double r = copysign(sqrt(fmax(0, -2 * v->ln_post)), x);
  double q = -v->gradient * v->sd * exp(v->ln_post - ln);
  return r + log(q / r) / r;
}

/* Within this many standard deviations of the maximum, more with many votes, r is lost to
** rounding: r* is interpolated linearly between both ends, with an error below 1e-8. */
static const double AT_MAXIMUM = 2e-4;

/* Step 2, where `at` is the difference of the two at the maximum: the deviate of
** P(lambda_a < lambda_b). */
static double deviate_below(ev_votes_posterior *v, double at) {
  double near = fmax(AT_MAXIMUM, cbrt(1000 * v->rounding)) * v->sd;
  if (fabs(at) > near) return r_star(v, -at);
  double low = r_star(v, -near), high = r_star(v, near);
  return (low * (near + at) + high * (near - at)) / (2 * near);
}

/* P(lambda_a < lambda_b), and P(lambda_a > lambda_b): 1/2 if the two can be exchanged; of two
** models without an advantage of the first place, that of P(a | decided) to be below 1/2. */
static ev_point chance_below(ev_votes_posterior *v, const ev_votes *votes, size_t a, size_t b,
                             double at) {
  if (are_alike(votes, a, b)) return (ev_point){0.5, 0.5};
  if (v->models == 2 && !votes->position) {
    ev_beta d = ev_beta_make(1 + ev_votes_wins(votes, a, b), 1 + ev_votes_losses(votes, a, b));
    return ev_beta_cdf(&d, (ev_point){0.5, 0.5});
  }
  double z = deviate_below(v, at);
  return (ev_point){gsl_cdf_ugaussian_P(z), gsl_cdf_ugaussian_Q(z)};
}

/*
** Ranks
*/
typedef struct votes_test {
  size_t better, worse; /* probably */
  double p;             /* two-sided */
} votes_test;

static int by_tail(const void *x, const void *y) {
  const votes_test *s = x, *t = y;
  return (s->p > t->p) - (s->p < t->p);
}

/* Step 3.  The order of equal p does not matter: Holm's limit rises, so all of them pass if the
** first does. */
static void mark_ranks(votes_test *tests, size_t count, double limit, ev_rating *ratings) {
  qsort(tests, count, sizeof *tests, by_tail);
  for (size_t k = 0; k < count && tests[k].p * (double)(count - k) <= limit; k++) {
    ratings[tests[k].worse].rank_lo++;
    ratings[tests[k].better].rank_hi--;
  }
}

static ev_status rank_ratings(ev_votes_posterior *v, const ev_votes *votes,
                              const ev_options *options, ev_rating *ratings) {
  size_t m = v->models, count = 0;
  votes_test *tests = malloc(m * (m - 1) / 2 * sizeof *tests);
  if (!tests) return EV_NO_MEMORY;
  for (size_t i = 0; i < m; i++) {
    ratings[i].rank = 1;
    ratings[i].rank_lo = 1;
    ratings[i].rank_hi = m;
  }
  for (size_t a = 0; a < m && v->status == EV_OK; a++)
    for (size_t b = a + 1; b < m && v->status == EV_OK; b++) {
      ev_point below = chance_below(v, votes, a, b, set_pair(v, a, b));
      bool worse = below.x > below.y;
      ratings[a].rank += below.x;
      ratings[b].rank += below.y;
      tests[count++] = (votes_test){worse ? b : a, worse ? a : b, 2 * fmin(below.x, below.y)};
    }
  if (v->status == EV_OK) mark_ranks(tests, count, 1 - options->level, ratings);
  free(tests);
  return v->status;
}

/*
** Answers
*/

/* The first of the models before i that it can be exchanged with; i if there is none. */
static size_t twin_of(const ev_votes *votes, size_t i) {
  for (size_t j = 0; j < i && i != votes->anchor; j++)
    if (j != votes->anchor && are_alike(votes, i, j)) return j;
  return i;
}

static ev_status rate_model(ev_votes_posterior *v, const ev_votes *votes, const ev_options *options,
                            size_t i, ev_rating *r) {
  ev_status status = rate_average(v, options, i, &r->average);
  r->rating = r->average;
  if (status != EV_OK || votes->anchor == v->models) return status;
  r->rating = (ev_contrast){0, {0, 0}};
  return i == votes->anchor
             ? EV_OK
             : find_rating_interval(v, options, set_pair(v, i, votes->anchor), &r->rating);
}

static ev_status rate_first_place(ev_votes_posterior *v, const ev_options *options,
                                  ev_contrast *out) {
  *out = (ev_contrast){0, {0, 0}};
  if (v->position == v->size) return EV_OK;
  no_contrast(v);
  v->c[v->position] = 1;
  ev_votes_contrast(v);
  return find_rating_interval(v, options, v->theta[v->position], out);
}

/* Models that can be exchanged have equal ratings to the last digit. */
static ev_status rate_all(ev_votes_posterior *v, const ev_votes *votes, const ev_options *options,
                          ev_rating *ratings, ev_contrast *first_place) {
  ev_status status = rate_first_place(v, options, first_place);
  if (status == EV_OK) status = rank_ratings(v, votes, options, ratings);
  for (size_t i = 0; i < v->models && status == EV_OK; i++) {
    size_t twin = twin_of(votes, i);
    if (twin < i)
      ratings[i] = ratings[twin];
    else
      status = rate_model(v, votes, options, i, &ratings[i]);
  }
  return status;
}

ev_status ev_rate(const ev_votes *votes, const ev_options *options, ev_host host,
                  ev_rating *ratings, ev_contrast *first_place) {
  ev_votes_posterior *v;
  ev_status status = ev_votes_make(votes, host, &v);
  if (status == EV_OK) status = rate_all(v, votes, options, ratings, first_place);
  ev_votes_free(v);
  return status;
}

static ev_status rate_pairs(ev_votes_posterior *v, const ev_votes *votes, const ev_options *options,
                            ev_rated_pair *pairs) {
  ev_status status = EV_OK;
  for (size_t a = 0; a < v->models; a++)
    for (size_t b = a + 1; b < v->models && status == EV_OK; b++, pairs++) {
      double at = set_pair(v, a, b);
      *pairs = (ev_rated_pair){.a = a, .b = b};
      status = find_rating_interval(v, options, at, &pairs->diff);
      ev_point below =
          chance_below(v, votes, a, b, at); /* after the interval, whose points foretell it */
      pairs->above = below.y;
      pairs->below = below.x;
      if (status == EV_OK) status = v->status;
    }
  return status;
}

ev_status ev_rate_pairs(const ev_votes *votes, const ev_options *options, ev_host host,
                        ev_rated_pair *pairs) {
  ev_votes_posterior *v;
  ev_status status = ev_votes_make(votes, host, &v);
  if (status == EV_OK) status = rate_pairs(v, votes, options, pairs);
  ev_votes_free(v);
  return status;
}
