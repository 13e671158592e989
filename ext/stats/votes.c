/*
** Bradley and Terry's model of votes, with Davidson's ties (J. Am. Stat. Assoc. 65 (1970) 317-328).
**
** With D = lambda_a - lambda_b, plus gamma where the first place may have an advantage,
**
**     P(a) = e^(D/2)/Z,   P(b) = e^(-D/2)/Z,   P(tie) = nu/Z,   Z = e^(D/2) + e^(-D/2) + nu.
**
** The prior is flat in the differences of lambda, in ln nu and in gamma, and imagines that each
** model has won once and lost once, spread evenly over the others: 1/(m-1) wins either way in
** every pair.  The posterior is log-concave and proper for all votes.  Without a tie nu is 0.
**
**   1. Of two models P(a | decided) has Beta(1 + wins, 1 + losses), ties or not, which has all
**      bounds and chances, unless the place matters.
**   2. Else P(contrast < x) is Phi(r*), and a bound is where r* is the level's deviate.
**      votes_posterior.c has r* by the shape of the posterior along the contrast where it is nearly
**      normal, and by its profile.  Up to ten models, and where ln post is flat at the maximum,
**      bounds are quantiles of the profile's marginal, which marginal.h normalises.
**   3. For ranks r* is wanted of all pairs.  Along a pair's contrast the derivatives are nearly
**      those along its two models' added up, which is one sum per model in place of one per pair.
**      Pairs of a skew model have their own.
**   4. Two models are told apart if 2 min(P, 1-P) is at most 1 - level after Holm's correction
**      over all pairs; a rank's range counts those.  Pairs whose P is near their limit are computed
**      again by the profile until none is left, unless there are very many models.
*/
#include "votes.h"

#include <stdlib.h>
#include <string.h>

#include "beta.h"
#include "marginal.h"
#include "normal.h"
#include "votes_posterior.h"

/* What a shape may have at most for r* by it to be near that by the profile, at two standard
** deviations: within 1e-6 of a width for bounds of few models, 1e-3 for those of more, and 1e-2 for
** those of many; within 1e-2 for the P of a pair; and for adding up the shapes of two models. */
static const votes_shape PLAIN_FEW = {0.01, 0.002, 0.02, 0.001},
                         PLAIN_MORE = {0.25, 0.1, 0.2, 0.01};
static const votes_shape PLAIN_MANY = {0.5, 0.5, 0.5, 0.1}, PLAIN_RANK = {1, 1, 2, 1};
static const votes_shape PLAIN_PART = {0.1, 0.1, 0.2, 0.1};

static bool is_plain(const votes_shape *s, const votes_shape *most, double z) {
  double part = fmin(1, 2 / z), square = part * part;
  return fabs(s->third) < most->third * part && fabs(s->fourth) < most->fourth * square &&
         fabs(s->det) < most->det * part && fabs(s->det2) < most->det2 * square;
}

/* Up to this many models all bounds are those of the marginal. */
enum { VOTES_MARGINAL = 10 };
/* r* fails where ln post is flat at the maximum, as it is if models tied in most of their votes. */
static const double MOST_FOURTH = 2;

static bool has_plain_bounds(const ev_votes_posterior *v, double z) {
  size_t m = v->models;
  return is_plain(&v->shape,
                  m <= VOTES_MARGINAL  ? &PLAIN_FEW
                  : m <= EV_VOTES_MANY ? &PLAIN_MORE
                                       : &PLAIN_MANY,
                  z);
}

/*
** Bounds
*/
static double star_at(ev_votes_posterior *v, bool plain, double u) {
  return plain ? ev_votes_star_by_shape(&v->shape, u) : ev_votes_star_by_profile(v, u);
}

/* Where r*, which rises, is z: by secants, the first with the slope by shape, and by halves of what
** they have closed in where they leave it.  The last one is not looked at again.  Where the profile
** is not found, it is too far out. */
enum { ROOT_STEPS = 60 };
static const double ROOT_NEAR = 1e-6, LONGEST_ROOT_STEP = 3, LEAST_SLOPE = 0.05;

static double find_root(ev_votes_posterior *v, bool plain, double z, double from) {
  double low = -HUGE_VAL, high = HUGE_VAL, at = from, over = star_at(v, plain, at) - z;
  double slope = (star_at(v, true, at + 0.01) - star_at(v, true, at - 0.01)) / 0.02;
  for (int i = 0; i < ROOT_STEPS && v->status == EV_OK; i++) {
    if (!(slope > LEAST_SLOPE)) slope = 1;
    if (fabs(over) < ROOT_NEAR) return at - over / slope;
    if (over > 0 || (isnan(over) && at > 0))
      high = at;
    else
      low = at;
    double next = at - fmax(-LONGEST_ROOT_STEP, fmin(LONGEST_ROOT_STEP, over / slope));
    if (isnan(over)) next = at / 2;
    if (!(next > low && next < high)) next = (low + high) / 2;
    double value = star_at(v, plain, next) - z;
    if (next == at) return at;
    slope = (value - over) / (next - at);
    at = next, over = value;
  }
  return NAN;
}

/* 1e-8 of the density moves a bound by less than 1e-8 sd; e^-25 of the tail is 1e-11. */
static const double VOTES_TOLERANCE = 1e-8, VOTES_LN_DROP = 25;
/* Of the rounding of ln post: that of ln det where all votes of a chain of models agree. */
static const double ROUNDING_BY_VOTES = 100, ROUNDING_AT_MOST = 1e5;
enum { VOTES_BUDGET = 1000 };

/* The quantiles of the normalised marginal; NAN where rounding far out, of a few votes at a level
** near 1 or of 10^8 that all agree, leaves it rough. */
static ev_interval integrate_bounds(ev_votes_posterior *v, double tail) {
  ev_marginal marginal;
  double drop = VOTES_LN_DROP - log(tail);
  ev_search search = {.ln_density = ev_votes_ln_marginal,
                      .context = v,
                      .width = fmin(sqrt(2.2 * drop), 4 * drop / v->sd),
                      .ln_drop = drop,
                      .tolerance = fmax(VOTES_TOLERANCE, ROUNDING_BY_VOTES * v->rounding),
                      .tail = tail,
                      .budget = VOTES_BUDGET,
                      .acceptable = fmax(1e-6, ROUNDING_AT_MOST * v->rounding)};
  ev_interval u = {NAN, NAN};
  ev_status status = ev_marginal_find(&marginal, &search);
  if (status == EV_OK) ev_marginal_interval(&marginal, tail, &u);
  return u;
}

/* By r* of the profile, from where it is by shape. */
static ev_interval search_bounds(ev_votes_posterior *v, double z, ev_interval from) {
  double lo = fabs(from.lo + z) < LONGEST_ROOT_STEP ? from.lo : -z;
  double hi = fabs(from.hi - z) < LONGEST_ROOT_STEP ? from.hi : z;
  return (ev_interval){find_root(v, false, -z, lo), find_root(v, false, z, hi)};
}

/* The interval of the contrast that v->c was set to. */
static ev_status find_rating_interval(ev_votes_posterior *v, const ev_options *options, double at,
                                      ev_contrast *out) {
  double z = ev_deviate(options);
  if (v->status != EV_OK) return v->status;
  ev_interval shape = {find_root(v, true, -z, -z), find_root(v, true, z, z)}, u = shape;
  bool plain = has_plain_bounds(v, z);
  if (!plain && (v->models <= VOTES_MARGINAL || !(fabs(v->shape.fourth) < MOST_FOURTH)))
    u = integrate_bounds(v, ev_tail(options));
  else if (!plain)
    u.lo = NAN;
  if (isnan(u.lo) && v->status == EV_OK) u = search_bounds(v, z, shape);
  *out = (ev_contrast){at, {at + v->sd * u.lo, at + v->sd * u.hi}};
  return v->status != EV_OK ? v->status : ev_interval_status(out->ci);
}

/*
** Contrasts
*/
static double mean_ability(const ev_votes_posterior *v) {
  double sum = 0;
  for (size_t i = 0; i < v->models; i++) sum += v->theta[i];
  return sum / (double)v->models;
}

/* c becomes that of a model to the mean of all, whose value at the maximum is returned. */
static double set_average(ev_votes_posterior *v, size_t model) {
  memset(v->c, 0, v->row * sizeof *v->c);
  for (size_t i = 0; i < v->models; i++) v->c[i] = -1.0 / (double)v->models;
  v->c[ev_votes_place(v, model)] += 1;
  ev_votes_contrast(v);
  return v->theta[ev_votes_place(v, model)] - mean_ability(v);
}

static double difference_of(const ev_votes_posterior *v, size_t a, size_t b) {
  return v->theta[ev_votes_place(v, a)] - v->theta[ev_votes_place(v, b)];
}

/* c becomes that of two models' difference. */
static double set_pair(ev_votes_posterior *v, size_t a, size_t b) {
  memset(v->c, 0, v->row * sizeof *v->c);
  v->c[ev_votes_place(v, a)] = 1, v->c[ev_votes_place(v, b)] = -1;
  ev_votes_contrast(v);
  return difference_of(v, a, b);
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

/*
** Ranks
*/
typedef struct votes_test {
  size_t better, worse; /* probably */
  double p;             /* two-sided */
  double within;        /* p is right within this factor; 1 where it is by the profile */
} votes_test;

typedef struct votes_ranking {
  ev_votes_posterior *v;
  const ev_votes *votes;
  votes_shape
      *parts; /* of each model's average, by the contrast in place of sd; NAN if not plain */
  votes_test *tests;
  size_t count;
  double skew; /* that of the least plain average */
} votes_ranking;

static double skew_of(const votes_shape *s) {
  return fabs(s->third) + fabs(s->det) + fabs(s->det2);
}

/* The shape by standard deviations of what it is by the contrast, and back with 1/sd; `det` is
** without its part of the third derivative. */
static votes_shape rescale(votes_shape s, double sd) {
  double var = sd * sd;
  return (votes_shape){s.third * var * sd, s.fourth * var * var, s.det * sd, s.det2 * var};
}

static votes_shape shape_part(const ev_votes_posterior *v) {
  votes_shape s = v->shape;
  s.det -= s.third;
  if (v->models <= EV_VOTES_MANY && !is_plain(&s, &PLAIN_PART, 2)) s.third = NAN;
  return rescale(s, v->sd);
}

/* Step 3: the shape of a pair's difference; false if one of the two is skew. */
static bool add_parts(const votes_ranking *r, size_t a, size_t b, double sd, votes_shape *out) {
  votes_shape x = r->parts[a], y = r->parts[b];
  if (isnan(x.third) || isnan(y.third)) return false;
  *out =
      rescale((votes_shape){x.third - y.third, x.fourth + y.fourth, x.det - y.det, x.det2 + y.det2},
              1 / sd);
  out->det += out->third;
  return true;
}

/* By which means P is; and what ln P may be off by, by z^2 and the skewness of the pair, and of the
** least plain model. */
typedef enum votes_means { BY_PARTS, BY_SHAPE, BY_PROFILE } votes_means;
static const double OFF_BY_PAIR[] = {0.1, 0.15, 0}, OFF_BY_OTHERS[] = {0.06, 0.05, 0};

/* The deviate of P(lambda_a < lambda_b), which is 1/2 if they can be exchanged, by the least means
** from these on. */
static double deviate_below(const votes_ranking *r, size_t a, size_t b, votes_means *means,
                            votes_shape *shape) {
  ev_votes_posterior *v = r->v;
  size_t i = ev_votes_place(v, a), j = ev_votes_place(v, b);
  double at = difference_of(v, a, b), both = v->inverse[i * v->row + j];
  double sd = sqrt(v->diagonal[i] + v->diagonal[j] - 2 * both);
  if (are_alike(r->votes, a, b)) return 0;
  if (*means == BY_PARTS && add_parts(r, a, b, sd, shape))
    return ev_votes_star_by_shape(shape, -at / sd);
  set_pair(v, a, b);
  *shape = v->shape;
  const votes_shape *most = v->models <= EV_VOTES_FEW ? &PLAIN_MORE : &PLAIN_RANK;
  *means = *means < BY_PROFILE && is_plain(&v->shape, most, 2) ? BY_SHAPE : BY_PROFILE;
  return star_at(v, *means == BY_SHAPE, -at / v->sd);
}

/* A pair's test, and P. */
static votes_test test_pair(const votes_ranking *r, size_t a, size_t b, votes_means means,
                            ev_point *below) {
  votes_shape s = {0, 0, 0, 0};
  double z = deviate_below(r, a, b, &means, &s);
  double off = OFF_BY_PAIR[means] * skew_of(&s) + OFF_BY_OTHERS[means] * r->skew;
  *below = (ev_point){gsl_cdf_ugaussian_P(z), gsl_cdf_ugaussian_Q(z)};
  return (votes_test){z > 0 ? b : a, z > 0 ? a : b, 2 * fmin(below->x, below->y), exp(off * z * z)};
}

static int by_tail(const void *x, const void *y) {
  const votes_test *s = x, *t = y;
  return (s->p > t->p) - (s->p < t->p);
}

/* Step 4.  The order of equal p does not matter: Holm's limit rises, so all of them pass if the
** first does. */
static void mark_ranks(const votes_test *tests, size_t count, double limit, ev_rating *ratings) {
  for (size_t k = 0; k < count && tests[k].p * (double)(count - k) <= limit; k++) {
    ratings[tests[k].worse].rank_lo++;
    ratings[tests[k].better].rank_hi--;
  }
}

/* More models have too many pairs near their limit. */
enum { VOTES_SURE = 500 };

/* Computes those near their limit by the profile, or of many models by their own shape; false if
** there were none. */
static bool make_sure(const votes_ranking *r, double limit) {
  bool found = false, many = r->v->models > EV_VOTES_MANY;
  ev_point below;
  for (size_t k = 0; k < r->count && r->v->status == EV_OK; k++) {
    votes_test *t = &r->tests[k];
    double part = t->p * (double)(r->count - k) / limit;
    if (t->within == 1 || part > t->within || part * t->within < 1) continue;
    *t = test_pair(r, t->better, t->worse, many ? BY_SHAPE : BY_PROFILE, &below);
    t->within = 1;
    found = true;
  }
  return found;
}

static ev_status rank_ratings(votes_ranking *r, const ev_options *options, ev_rating *ratings) {
  size_t m = r->v->models;
  for (size_t i = 0; i < m; i++) {
    ratings[i].rank = 1;
    ratings[i].rank_lo = 1;
    ratings[i].rank_hi = m;
  }
  for (size_t a = 0; a < m && r->v->status == EV_OK; a++) {
    if (ev_interrupted(r->v->host)) r->v->status = EV_INTERRUPTED;
    for (size_t b = a + 1; b < m && r->v->status == EV_OK; b++) {
      ev_point below;
      r->tests[r->count++] = test_pair(r, a, b, BY_PARTS, &below);
      ratings[a].rank += below.x;
      ratings[b].rank += below.y;
    }
  }
  do qsort(r->tests, r->count, sizeof *r->tests, by_tail);
  while (m <= VOTES_SURE && make_sure(r, 1 - options->level));
  if (r->v->status == EV_OK) mark_ranks(r->tests, r->count, 1 - options->level, ratings);
  return r->v->status;
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

static ev_status rate_model(votes_ranking *r, const ev_options *options, size_t i, ev_rating *out) {
  double at = set_average(r->v, i);
  ev_status status = find_rating_interval(r->v, options, at, &out->average);
  r->parts[i] = shape_part(r->v);
  r->skew = fmax(r->skew, skew_of(&r->v->shape));
  out->rating = out->average;
  if (status != EV_OK || r->votes->anchor == r->v->models) return status;
  out->rating = (ev_contrast){0, {0, 0}};
  if (i == r->votes->anchor) return EV_OK;
  at = set_pair(r->v, i, r->votes->anchor);
  return find_rating_interval(r->v, options, at, &out->rating);
}

static ev_status rate_first_place(ev_votes_posterior *v, const ev_options *options,
                                  ev_contrast *out) {
  *out = (ev_contrast){0, {0, 0}};
  if (v->place == v->size) return EV_OK;
  memset(v->c, 0, v->row * sizeof *v->c);
  v->c[v->place] = 1;
  ev_votes_contrast(v);
  return find_rating_interval(v, options, v->theta[v->place], out);
}

/* Models that can be exchanged have equal ratings to the last digit. */
static ev_status rate_all(votes_ranking *r, const ev_options *options, ev_rating *ratings,
                          ev_contrast *first_place) {
  ev_status status = rate_first_place(r->v, options, first_place);
  for (size_t i = 0; i < r->v->models && status == EV_OK; i++) {
    size_t twin = twin_of(r->votes, i);
    if (twin < i)
      ratings[i] = ratings[twin], r->parts[i] = r->parts[twin];
    else
      status = rate_model(r, options, i, &ratings[i]);
  }
  if (status == EV_OK) status = rank_ratings(r, options, ratings);
  for (size_t i = 0; i < r->v->models && status == EV_OK; i++) {
    const ev_rating *twin = &ratings[twin_of(r->votes, i)];
    ratings[i].rank = twin->rank, ratings[i].rank_lo = twin->rank_lo;
    ratings[i].rank_hi = twin->rank_hi;
  }
  return status;
}

static ev_status rate_many(const ev_votes *votes, const ev_options *options, ev_host host,
                           ev_rating *ratings, ev_contrast *first_place) {
  size_t m = votes->models;
  votes_ranking r = {.votes = votes};
  ev_status status = ev_votes_make(votes, host, &r.v);
  r.parts = malloc(m * sizeof *r.parts);
  r.tests = malloc(m * (m - 1) / 2 * sizeof *r.tests);
  if (status == EV_OK && (!r.parts || !r.tests)) status = EV_NO_MEMORY;
  if (status == EV_OK) status = rate_all(&r, options, ratings, first_place);
  free(r.parts);
  free(r.tests);
  ev_votes_free(r.v);
  return status;
}

/* Step 1 */
static ev_status rate_two(const ev_votes *votes, const ev_options *options, ev_rated_pair *out) {
  double won = 1 + ev_votes_wins(votes, 0, 1), lost = 1 + ev_votes_losses(votes, 0, 1);
  double tail = ev_tail(options);
  ev_beta d = ev_beta_make(won, lost);
  ev_point half = ev_beta_cdf(&d, (ev_point){0.5, 0.5}), lo, hi;
  if (!ev_beta_quantile(&d, (ev_point){tail, 1 - tail}, &lo) ||
      !ev_beta_quantile(&d, (ev_point){1 - tail, tail}, &hi) || isnan(half.x))
    return EV_NOT_CONVERGED;
  if (won == lost) half = (ev_point){0.5, 0.5};
  *out = (ev_rated_pair){.a = 0, .b = 1, .above = half.y, .below = half.x};
  out->diff = (ev_contrast){log(won / lost), {log(lo.x / lo.y), log(hi.x / hi.y)}};
  return EV_OK;
}

static ev_contrast times(double factor, ev_contrast c) {
  double x = factor * c.ci.lo, y = factor * c.ci.hi;
  return (ev_contrast){factor * c.at, {fmin(x, y), fmax(x, y)}};
}

/* Each of the two is half of the difference from the mean, and all of it from the other. */
static ev_status rate_both(const ev_votes *votes, const ev_options *options, ev_rating *ratings) {
  ev_rated_pair pair;
  ev_status status = rate_two(votes, options, &pair);
  bool apart = 2 * fmin(pair.below, pair.above) <= 1 - options->level;
  for (size_t i = 0; i < 2 && status == EV_OK; i++) {
    double sign = i ? -1 : 1, worse = i ? pair.above : pair.below;
    ev_contrast average = times(sign / 2, pair.diff);
    double beside = votes->anchor == 2 ? 0.5 : votes->anchor == i ? 0 : 1;
    ratings[i] = (ev_rating){.average = average,
                             .rating = times(sign * beside, pair.diff),
                             .rank = 1 + worse,
                             .rank_lo = apart && worse > 0.5 ? 2 : 1,
                             .rank_hi = apart && worse < 0.5 ? 1 : 2};
  }
  return status;
}

static bool is_beta(const ev_votes *votes) {
  return votes->models == 2 && !votes->position;
}

ev_status ev_rate(const ev_votes *votes, const ev_options *options, ev_host host,
                  ev_rating *ratings, ev_contrast *first_place) {
  *first_place = (ev_contrast){0, {0, 0}};
  return is_beta(votes) ? rate_both(votes, options, ratings)
                        : rate_many(votes, options, host, ratings, first_place);
}

static ev_status rate_pairs(ev_votes_posterior *v, const ev_votes *votes, const ev_options *options,
                            ev_rated_pair *pairs) {
  ev_status status = v->status;
  for (size_t a = 0; a < v->models; a++)
    for (size_t b = a + 1; b < v->models && status == EV_OK; b++, pairs++) {
      double at = set_pair(v, a, b);
      *pairs = (ev_rated_pair){.a = a, .b = b};
      status = find_rating_interval(v, options, at, &pairs->diff);
      double z = are_alike(votes, a, b) ? 0 : star_at(v, has_plain_bounds(v, 2), -at / v->sd);
      pairs->above = gsl_cdf_ugaussian_Q(z);
      pairs->below = gsl_cdf_ugaussian_P(z);
      if (status == EV_OK) status = v->status;
    }
  return status;
}

ev_status ev_rate_pairs(const ev_votes *votes, const ev_options *options, ev_host host,
                        ev_rated_pair *pairs) {
  if (is_beta(votes)) return rate_two(votes, options, pairs);
  ev_votes_posterior *v;
  ev_status status = ev_votes_make(votes, host, &v);
  if (status == EV_OK) status = rate_pairs(v, votes, options, pairs);
  ev_votes_free(v);
  return status;
}
