/*
** Ratings from votes: compares them with references, and checks identities that need no reference.
**
**     votes VOTES.csv
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>

#include "../../ext/stats/proportion.h"
#include "../../ext/stats/votes.h"
#include "../check.h"
#include "../random.h"

enum { MOST = 260 };

static const ev_host nobody = {0};
static double wins[MOST * MOST], losses[MOST * MOST], ties[MOST * MOST];
static ev_votes votes;
static ev_rating ratings[MOST];
static ev_rated_pair pairs[MOST * (MOST - 1) / 2];
static ev_contrast first_place;

static void near(double got, double wanted, double tolerance, const char *what) {
  check(fabs(got - wanted) <= tolerance, what, got, wanted);
}

static void same(ev_contrast got, ev_contrast wanted, double tolerance, const char *what) {
  near(got.at, wanted.at, tolerance, what);
  near(got.ci.lo, wanted.ci.lo, tolerance, what);
  near(got.ci.hi, wanted.ci.hi, tolerance, what);
}

static void clear(size_t models, bool position) {
  votes = (ev_votes){models, wins, losses, ties, position, models};
  memset(wins, 0, sizeof wins);
  memset(losses, 0, sizeof losses);
  memset(ties, 0, sizeof ties);
}

static void vote(size_t i, size_t j, double won, double lost, double tied) {
  wins[i * votes.models + j] += won;
  losses[i * votes.models + j] += lost;
  ties[i * votes.models + j] += tied;
}

static void rate(double level) {
  ev_options options = {.level = level};
  ev_status status = ev_rate(&votes, &options, nobody, ratings, &first_place);
  check(status == EV_OK, "status of ratings", status, EV_OK);
}

static void rate_pairs(double level) {
  ev_options options = {.level = level};
  check(ev_rate_pairs(&votes, &options, nobody, pairs) == EV_OK, "pairs", 1, 0);
}

/*
** References
*/
enum { COLUMNS = 11 };
enum { METHOD, MODELS, POSITION, LEVEL, FIRST, SECOND, AT, LO, HI, BELOW, VOTES };

static void read_votes(char *text) {
  for (char *at = text; *at >= '0'; at += *at == ' ') {
    double row[5];
    for (int i = 0; i < 5; i++) {
      row[i] = strtod(at, &at);
      if (i < 4) at++;
    }
    vote((size_t)row[0], (size_t)row[1], row[2], row[3], row[4]);
  }
}

/* Ratings are on the scale of logits.  Errors of more than ten models are by the interval's width.
 */
typedef enum asked { RATING, PAIR, PLACE } asked;

static struct reference {
  const char *method;
  asked asked;
  double bar;
  bool by_width;
  int rows;
  double worst;
} references[] = {
    {"bt_ratings", RATING, 1e-8, false, 0, 0},    {"bt_pairs", PAIR, 1e-8, false, 0, 0},
    {"bt_first_place", PLACE, 1e-8, false, 0, 0}, {"bt_ratings_of_many", RATING, 1e-3, true, 0, 0},
    {"bt_pairs_of_many", PAIR, 1e-3, true, 0, 0}, {"bt_ratings_of_few", RATING, 2.5e-2, true, 0, 0},
    {"bt_pairs_of_few", PAIR, 2.5e-2, true, 0, 0}};
enum { METHODS = sizeof references / sizeof *references };

static void compare_line(char **c) {
  int method = 0;
  while (strcmp(references[method].method, c[METHOD]) != 0)
    if (++method == METHODS) exit(2);
  struct reference *r = &references[method];
  size_t i = (size_t)atol(c[FIRST]), j = (size_t)atol(c[SECOND]);
  double level = strtod(c[LEVEL], NULL), below = strtod(c[BELOW], NULL);
  ev_contrast wanted = {strtod(c[AT], NULL), {strtod(c[LO], NULL), strtod(c[HI], NULL)}}, got;
  clear((size_t)atol(c[MODELS]), c[POSITION][0] == '1');
  read_votes(c[VOTES]);
  double scale = r->by_width ? wanted.ci.hi - wanted.ci.lo : 1;
  if (r->asked == PAIR) {
    rate_pairs(level);
    size_t k = 0;
    while (pairs[k].a != i || pairs[k].b != j) k++;
    got = pairs[k].diff;
    if (below >= 0)
      near(pairs[k].below, below, r->by_width ? 1e-3 : r->bar, "chance that the other is better");
    near(pairs[k].above + pairs[k].below, 1, 1e-15, "chances of a pair");
  } else {
    rate(level);
    got = r->asked == RATING ? ratings[i].rating : first_place;
  }
  near(got.at, wanted.at, 1e-8, c[METHOD]);
  same(got, wanted, r->bar * scale, c[METHOD]);
  double error = fmax(fabs(got.ci.lo - wanted.ci.lo), fabs(got.ci.hi - wanted.ci.hi));
  r->worst = fmax(r->worst, error / scale);
  r->rows++;
}

static void compare(const char *path) {
  char line[5000], *c[COLUMNS];
  FILE *file = fopen(path, "r");
  if (!file || !fgets(line, sizeof line, file)) exit(2);
  while (fgets(line, sizeof line, file)) {
    int count = 0;
    for (char *at = strtok(line, ",\n"); at && count < COLUMNS; at = strtok(NULL, ",\n"))
      c[count++] = at;
    if (count != COLUMNS) exit(2);
    compare_line(c);
  }
  fclose(file);
  for (int i = 0; i < METHODS; i++) {
    const struct reference *r = &references[i];
    printf("%-26s %5d  %-9.1e %-9.1e %.2g %s\n", r->method, r->rows, r->worst, 0.0, r->bar,
           r->by_width ? "relative" : "absolute");
    check(r->rows >= 6, r->method, r->rows, 6);
  }
}

/*
** Identities
*/
/* With two models, P(a | no tie) has a Beta distribution, with ties and without. */
/* P(Beta(1 + won, 1 + lost) < 1/2), which is the chance of more than that many heads in one toss
** more than there are decided votes. */
static double beta_below_half(double won, double decided) {
  double sum = 0;
  if (decided >= 100) return gsl_cdf_binomial_Q((unsigned)won, 0.5, (unsigned)decided + 1);
  for (double k = won + 1; k <= decided + 1; k++)
    sum += gsl_ran_binomial_pdf((unsigned)k, 0.5, (unsigned)decided + 1);
  return sum;
}

static void two_models_are_a_beta(void) {
  static const double counts[][3] = {{7, 3, 0},   {7, 3, 5},       {1, 0, 4},
                                     {1, 0, 0},   {0, 40, 3},      {5e8, 3e8, 0},
                                     {1e9, 0, 0}, {600, 400, 1e9}, {123456, 7, 80}};
  static const double levels[] = {0.95, 0.5, 0.999999};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (int l = 0; l < 3; l++) {
      double w = counts[k][0], decided = w + counts[k][1], k_n[] = {w, decided};
      ev_options options = {.level = levels[l], .a = 1, .b = 1};
      ev_interval beta;
      clear(2, false);
      vote(0, 1, w, counts[k][1], counts[k][2]);
      rate_pairs(levels[l]);
      check(ev_bayes(k_n, &options, nobody, &beta) == EV_OK, "Beta", 1, 0);
      double lo = 1 / (1 + exp(-pairs[0].diff.ci.lo)), hi = 1 / (1 + exp(-pairs[0].diff.ci.hi));
      near(lo, beta.lo, 1e-10, "two models, lower bound");
      near(hi, beta.hi, 1e-10, "two models, upper bound");
      near(pairs[0].diff.at, log((w + 1) / (decided - w + 1)), 1e-10 * (1 + fabs(pairs[0].diff.at)),
           "two models, maximum");
      double below = beta_below_half(w, decided), accuracy = decided < 100 ? 1e-14 : 1e-8;
      near(pairs[0].below, below, accuracy, "two models, P");
      near(pairs[0].above, 1 - below, accuracy, "two models, P");
      rate(levels[l]);
      near(ratings[0].rank, 1 + below, accuracy, "two models, rank");
      near(ratings[0].rating.ci.lo, pairs[0].diff.ci.lo / 2, 1e-9, "half of a pair");
      near(ratings[1].rating.ci.lo, -ratings[0].rating.ci.hi, 1e-9, "two ratings mirror");
    }
}

static void draw_votes(size_t models, double most, double share_of_ties, bool position) {
  clear(models, position);
  for (size_t i = 0; i < models; i++)
    for (size_t j = 0; j < models; j++)
      if (i != j && random_share() < 0.7)
        vote(i, j, floor(most * random_share()), floor(most * random_share() * random_share()),
             floor(share_of_ties * most * random_share()));
}

static void exchange(double *x, double *y) {
  double kept = *x;
  *x = *y;
  *y = kept;
}

/* If all votes are reversed, abilities change their signs; and the advantage of the model shown
** first does too. */
static void reversal_mirrors(size_t models, bool position) {
  static ev_rating before[MOST];
  draw_votes(models, 12, 0.4, position);
  rate(0.9);
  memcpy(before, ratings, sizeof before);
  ev_contrast place = first_place;
  for (size_t k = 0; k < models * models; k++) exchange(&wins[k], &losses[k]);
  rate(0.9);
  for (size_t i = 0; i < models; i++) {
    near(ratings[i].rating.at, -before[i].rating.at, 1e-10, "mirrored rating");
    near(ratings[i].rating.ci.lo, -before[i].rating.ci.hi, 1e-9, "mirrored bound");
    near(ratings[i].rank, (double)models + 1 - before[i].rank, 1e-7, "mirrored rank");
    check(ratings[i].rank_lo == models + 1 - before[i].rank_hi, "mirrored range",
          (double)ratings[i].rank_lo, (double)(models + 1 - before[i].rank_hi));
  }
  if (position) near(first_place.ci.lo, -place.ci.hi, 1e-9, "mirrored advantage");
}

/* The models in reverse order have the same ratings. */
static void permutation_permutes(size_t models, bool position) {
  static ev_rating before[MOST];
  static double kept[3][MOST * MOST];
  double *counts[] = {wins, losses, ties};
  draw_votes(models, 9, 0.4, position);
  rate(0.99);
  memcpy(before, ratings, sizeof before);
  for (int k = 0; k < 3; k++) {
    memcpy(kept[k], counts[k], sizeof kept[k]);
    for (size_t i = 0; i < models * models; i++) counts[k][i] = kept[k][models * models - 1 - i];
  }
  rate(0.99);
  for (size_t i = 0; i < models; i++) {
    same(ratings[i].rating, before[models - 1 - i].rating, 1e-9, "permuted rating");
    near(ratings[i].rank, before[models - 1 - i].rank, 1e-7, "permuted rank");
  }
}

static void abilities_add_up(size_t models) {
  double sum = 0, ranks = 0;
  draw_votes(models, 30, 0.4, false);
  rate(0.95);
  rate_pairs(0.95);
  for (size_t i = 0; i < models; i++) {
    sum += ratings[i].rating.at;
    ranks += ratings[i].rank;
    check(ratings[i].rank_lo <= ratings[i].rank_hi, "range", 0, 0);
  }
  near(sum, 0, 1e-9, "ratings around their mean");
  near(ranks, (double)(models * (models + 1)) / 2, 1e-9, "sum of ranks");
  for (size_t k = 0; k < models * (models - 1) / 2; k++)
    near(pairs[k].diff.at, ratings[pairs[k].a].rating.at - ratings[pairs[k].b].rating.at, 1e-10,
         "difference of ratings");
  votes.anchor = 1;
  rate(0.95);
  check(ratings[1].rating.ci.hi == 0, "the anchor's own", ratings[1].rating.ci.hi, 0);
  same(ratings[0].rating, pairs[0].diff, 1e-9, "rating beside an anchor");
}

/* Of two models of which one won a single vote more, the weaker is better with the probability
** I_1/2(n + 1, n) = 1/2 - C(2n, n) / 2^(2n + 1), n - 1 being the fewer wins.  From 10^8 votes on
** the pair is so close to its maximum that the deviate is interpolated. */
static void nearly_equal_models(void) {
  for (double n = 1e4; n <= 1e9; n *= 10) {
    double wanted = 0.5 - (1 - 1 / (8 * n) + 1 / (128 * n * n)) / (2 * sqrt(M_PI * n));
    clear(2, false);
    vote(0, 1, n, n - 1, 0);
    rate_pairs(0.95);
    near(pairs[0].below, wanted, 1e-8, "one vote more, as the first model");
    clear(2, false);
    vote(0, 1, n - 1, n, 7);
    rate_pairs(0.95);
    near(pairs[0].above, wanted, 1e-8, "one vote more, as the second model");
    rate(0.95);
    near(ratings[1].rank, 1 + wanted, 1e-8, "rank of the model with one vote more");
  }
}

/* p of a pair times the number of pairs whose p is not below it. */
static double holm_step(size_t k, size_t count) {
  double p = 2 * fmin(pairs[k].above, pairs[k].below), as_large = 0;
  for (size_t i = 0; i < count; i++) as_large += 2 * fmin(pairs[i].above, pairs[i].below) >= p;
  return p * as_large;
}

/* The ranges of ranks count the pairs that Holm's method tells apart: those of which neither the
** step nor one of a smaller p is above 1 - level.  Some of them, Bonferroni's method would not. */
static void ranks_are_by_holm(void) {
  int gained = 0;
  for (int board = 0; board < 40; board++) {
    size_t models = 4 + (size_t)board % 6, count = models * (models - 1) / 2;
    size_t lo[MOST], hi[MOST];
    draw_votes(models, 25, 0.2, false);
    rate(0.9);
    rate_pairs(0.9);
    for (size_t i = 0; i < models; i++) lo[i] = 1, hi[i] = models;
    for (size_t k = 0; k < count; k++) {
      double p = 2 * fmin(pairs[k].above, pairs[k].below), step = 0;
      for (size_t i = 0; i < count; i++)
        if (2 * fmin(pairs[i].above, pairs[i].below) <= p) step = fmax(step, holm_step(i, count));
      if (step > 1 - 0.9) continue;
      gained += p * (double)count > 1 - 0.9;
      bool first = pairs[k].above > pairs[k].below;
      lo[first ? pairs[k].b : pairs[k].a]++;
      hi[first ? pairs[k].a : pairs[k].b]--;
    }
    for (size_t i = 0; i < models; i++) {
      check(ratings[i].rank_lo == lo[i], "best rank by Holm", (double)ratings[i].rank_lo,
            (double)lo[i]);
      check(ratings[i].rank_hi == hi[i], "worst rank by Holm", (double)ratings[i].rank_hi,
            (double)hi[i]);
    }
  }
  check(gained >= 5, "pairs that Bonferroni would not tell apart", gained, 5);
}

/* Models with the same votes have the same digits. */
static void equal_records(void) {
  clear(6, false);
  for (size_t i = 1; i < 6; i++) vote(0, i, 3, 5, 2);
  rate(0.95);
  for (size_t i = 2; i < 6; i++) {
    check(ratings[i].rating.ci.lo == ratings[1].rating.ci.lo, "equal records",
          ratings[i].rating.ci.lo, ratings[1].rating.ci.lo);
    near(ratings[i].rank, ratings[1].rank, 1e-12, "rank of equal records");
  }
}

/* The same votes of 250 models, some of which have many times the others' votes. */
static void draw_arena(size_t models) {
  enum { VOTED = 250 };
  double popular[VOTED];
  random_state = 11;
  clear(models, false);
  votes.anchor = 0;
  for (size_t i = 0; i < VOTED; i++) popular[i] = exp(2 * random_share());
  for (size_t i = 0; i < VOTED; i++)
    for (size_t j = i + 1; j < VOTED; j++) {
      double n = floor(popular[i] * popular[j] * random_share()), won = floor(n * random_share());
      vote(i, j, won, n - won, 0);
    }
}

/* Beyond 250 models the shape alone has the bounds, and up to that many the profile if it is not
** plain: a model that nobody voted on changes the imagined votes by 0.4%, and nothing else. */
static void one_more_model(void) {
  static ev_rating before[MOST];
  draw_arena(250);
  rate(0.95);
  memcpy(before, ratings, sizeof before);
  draw_arena(251);
  rate(0.95);
  for (size_t i = 1; i < 250; i++) {
    double width = before[i].rating.ci.hi - before[i].rating.ci.lo;
    same(ratings[i].rating, before[i].rating, 1e-2 * width, "one more model");
    near(ratings[i].rank, before[i].rank + 0.5, 0.5 + 1e-2 * before[i].rank,
         "one more model, rank");
  }
}

/* All of these converge. */
static void corners(void) {
  static const double levels[] = {0.5, 0.95, 0.999999};
  for (int l = 0; l < 3; l++) {
    clear(6, false); /* two groups of 10^9 votes that never met */
    vote(0, 1, 6e8, 4e8, 1e6);
    vote(1, 2, 6e8, 4e8, 0);
    vote(3, 4, 3e8, 4e8, 1e6);
    vote(4, 5, 9e8, 1e8, 7);
    rate(levels[l]);
    clear(5, true); /* always shown in one order */
    vote(0, 1, 5, 0, 0);
    vote(1, 2, 50, 3, 0);
    rate(levels[l]);
    clear(4, false); /* undefeated over 10^9 votes, and a newcomer */
    vote(0, 1, 1e9, 0, 0);
    vote(1, 2, 1e9, 1e9, 0);
    vote(2, 3, 0, 1, 0);
    rate(levels[l]);
    rate_pairs(levels[l]);
    clear(3, true); /* ties only */
    vote(0, 1, 0, 0, 1000);
    vote(2, 1, 0, 0, 2);
    rate(levels[l]);
    for (double t = 1; t <= 1e9; t *= 1000) { /* ties, and next to nothing else */
      clear(2, true);
      vote(0, 1, 0, 0, t);
      rate(levels[l]);
      vote(0, 1, 26, 0, t);
      rate(levels[l]);
      rate_pairs(levels[l]);
    }
    clear(4, false); /* each pair met twice */
    vote(0, 1, 0, 2, 0);
    vote(2, 1, 0, 2, 0);
    vote(2, 3, 0, 2, 0);
    rate_pairs(levels[l]);
    clear(8, true); /* a chain of certain results over 10^8 votes */
    vote(0, 1, 0, 1.4e8, 0);
    vote(0, 7, 5.2e8, 0, 0);
    vote(3, 4, 3.5e8, 0, 0);
    vote(6, 7, 2.8e8, 0, 0);
    rate(levels[l]);
    rate_pairs(levels[l]);
  }
}

/* Random sets of votes, few and very many, with and without ties, with most pairs or few: all
** converge. */
static void random_votes_have_answers(void) {
  static const double mosts[] = {1, 3, 50, 1e5, 1e9}, share_of_ties[] = {0, 0.05, 1, 100};
  static const double levels[] = {0.5, 0.95, 0.999999};
  for (int k = 0; k < 120; k++) {
    size_t models = 2 + (size_t)(random_share() * 7);
    double most = mosts[k % 5], share = k / 5 % 2 ? 0.9 : 0.25, tied = share_of_ties[k / 2 % 4];
    clear(models, k / 3 % 2);
    for (size_t i = 0; i < models; i++)
      for (size_t j = 0; j < models; j++)
        if (i != j && (random_share() < share || i + j == 1)) {
          double won = floor((most + 1) * random_share()), lost = floor(won * random_share());
          double ties_here = floor((most + 1) * random_share() * fmin(1, tied));
          if (tied > 1) won = floor(won / tied), lost = 0;
          if (random_share() < 0.4) lost = 0;
          vote(i, j, won, lost, ties_here);
        }
    vote(0, 1, 1, 0, 0);
    rate(levels[k % 3]);
    rate_pairs(levels[k % 3]);
    for (size_t i = 0; i < models; i++)
      check(ratings[i].rating.ci.lo < ratings[i].rating.ci.hi, "bounds", ratings[i].rating.ci.lo,
            ratings[i].rating.ci.hi);
  }
}

static bool stop_at(void *context) {
  int *left = context;
  return (*left)-- == 0;
}

static void interrupts(void) {
  ev_options options = {.level = 0.95};
  draw_votes(7, 20, 0.3, false);
  for (int after = 0; after < 200; after += 7) {
    int left = after;
    ev_host host = {stop_at, &left, NULL};
    check(ev_rate(&votes, &options, host, ratings, &first_place) == EV_INTERRUPTED, "interrupted",
          after, 0);
    left = after;
    check(ev_rate_pairs(&votes, &options, host, pairs) == EV_INTERRUPTED, "interrupted", after, 0);
  }
}

int main(int argc, char **argv) {
  gsl_set_error_handler_off();
  random_seed(7);
  if (argc < 2) return 2;
  compare(argv[1]);
  two_models_are_a_beta();
  for (size_t models = 3; models < 9; models += 2) {
    reversal_mirrors(models, models == 5);
    permutation_permutes(models, models == 7);
    abilities_add_up(models);
  }
  nearly_equal_models();
  ranks_are_by_holm();
  equal_records();
  one_more_model();
  random_state = 7;
  corners();
  random_votes_have_answers();
  interrupts();
  return check_summary();
}
