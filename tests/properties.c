/*
** Random counts, levels and priors, and what must hold of every interval and
** probability whatever they are:
**
**     bounds are ordered, and lie in the support,
**     they rise with every right answer, and fall with every wrong one,
**     a wider level contains a narrower one.
**
** A bound is rounded, and the models behind some are quadratures with an error of
** their own, so each method is allowed a slack, stated in its row of the table; the
** largest violation met is printed beside it.
**
**     properties ROUNDS [SEED]
*/
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "../ext/stats/clustered.h"
#include "../ext/stats/metrics.h"
#include "../ext/stats/paired.h"
#include "../ext/stats/proportion.h"
#include "../ext/stats/unpaired.h"
#include "check.h"

/*
** Random numbers, the same everywhere (splitmix64)
*/
static uint64_t state;

static uint64_t random_bits(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static double uniform(double least, double most) {
  return least + (most - least) * ((double)(random_bits() >> 11) * 0x1p-53);
}

static int one_of(int n) {
  return (int)(random_bits() % (unsigned)n);
}

/* Whole, from 0, and as likely between 10 and 100 as between 100 and 1000. */
static double random_size(double most) {
  return fmin(floor(most), floor(exp(uniform(0, log1p(most)))) - one_of(2));
}

/* Any level: even ones, very high ones and very low ones. */
static double random_level(void) {
  switch (one_of(6)) {
  case 0:
    return 1 - pow(10, uniform(-15, -1));
  case 1:
    return pow(10, uniform(-18, -1));
  case 2:
    return 0.95;
  default:
    return uniform(1e-3, 1 - 1e-3);
  }
}

/* k of n, anywhere or near either end. */
static double random_part(double n) {
  switch (one_of(4)) {
  case 0:
    return random_size(n);
  case 1:
    return n - random_size(n);
  default:
    return floor(uniform(0, n + 1));
  }
}

/*
** The methods
*/
enum { MOVES = 3 };

typedef struct method {
  const char *name;
  ev_model *model;
  ev_probability *probability;
  int size;
  bool pairs, prior;         /* counts are k, n; a prior may be given */
  double least, most;        /* the support */
  double moves[MOVES][4];    /* what, added to the counts, raises it */
  double largest;            /* of the counts, together */
  double absolute, relative; /* the slack */
  int cost;                  /* one round in so many */
} method;

/* The largest violation of each kind. */
typedef struct record {
  long cases;
  double unordered, falling, unnested;
} record;

#define SHARE 0, 1
#define DIFFERENCE -1, 1
#define RATIO 0, HUGE_VAL
#define ANY -HUGE_VAL, HUGE_VAL

/* One right answer more; A's one more, or B's one fewer; of pairs, one that A gets
** right too. */
#define MORE                                                                                       \
  {                                                                                                \
    { 1 }                                                                                          \
  }
#define MORE_OR_FEWER                                                                              \
  {                                                                                                \
    {1}, {                                                                                         \
      0, 0, -1                                                                                     \
    }                                                                                              \
  }
#define PAIRED_MORE                                                                                \
  {                                                                                                \
    {0, 1, -1}, {0, 1, 0, -1}, {                                                                   \
      1, 0, -1                                                                                     \
    }                                                                                              \
  }
#define HITS                                                                                       \
  {                                                                                                \
    {1}, {0, -1}, {                                                                                \
      0, 0, -1                                                                                     \
    }                                                                                              \
  }
#define NONE                                                                                       \
  {                                                                                                \
    { 0 }                                                                                          \
  }

/* What the slack is, and why:
**   bayes, jeffreys, cp and the metrics, 1e-12 of a bound: they come to 1e-13;
**   hdi, 1e-10, for it ends where two densities are equal, which leaves it fewer digits;
**   wilson and the CLT's, 1e-15: closed forms that round a few times, in units of 1;
**   prob_better and diff, 1e-10, odds_ratio, 1e-9 of a bound: to 10^9 questions they
**     promise 1e-12, 1e-10 and 1e-10, but at 10^12, where these go to, the last digit of
**     a theta is worth more;
**   fisher_or, 1e-8 of a bound, paired, 1e-8, which they promise;
**   clustered, 2e-9 of the 1e-8 it promises.
** Agresti and Coull's interval is left out: its centre moves with the level, so that
** a wider one need not contain a narrower.  So are the CLT's as counts rise: they
** collapse at both ends. */
static const method methods[] = {
    {"bayes", ev_bayes, NULL, 2, true, true, SHARE, MORE, 0x1p53, 0, 1e-12, 1},
    {"jeffreys", ev_jeffreys, NULL, 2, true, false, SHARE, MORE, 0x1p53, 0, 1e-12, 1},
    {"hdi", ev_hdi, NULL, 2, true, true, SHARE, MORE, 0x1p53, 0, 1e-10, 1},
    {"wilson", ev_wilson, NULL, 2, true, false, SHARE, MORE, 0x1p53, 1e-15, 0, 1},
    {"cp", ev_cp, NULL, 2, true, false, SHARE, MORE, 0x1p53, 0, 1e-12, 1},
    {"clt", ev_clt, NULL, 2, true, false, ANY, NONE, 0x1p53, 1e-15, 0, 1},

    {"prob_better", NULL, ev_prob_better, 4, true, false, SHARE, MORE_OR_FEWER, 1e12, 1e-10, 0, 10},
    {"diff", ev_diff, NULL, 4, true, false, DIFFERENCE, MORE_OR_FEWER, 1e12, 1e-10, 0, 500},
    {"odds_ratio", ev_odds_ratio, NULL, 4, true, false, RATIO, MORE_OR_FEWER, 1e12, 0, 1e-9, 500},
    {"fisher_or", ev_fisher_or, NULL, 4, true, false, RATIO, MORE_OR_FEWER, 0x1p53, 0, 1e-8, 500},
    {"diff_clt", ev_diff_clt, NULL, 4, true, false, ANY, NONE, 0x1p53, 1e-15, 0, 1},

    {"paired_prob", NULL, ev_paired_prob_better, 4, false, false, SHARE, PAIRED_MORE, 1e12, 1e-8, 0,
     250},
    {"paired_diff", ev_paired_diff, NULL, 4, false, false, DIFFERENCE, PAIRED_MORE, 1e12, 1e-8, 0,
     250},
    {"paired_diff_clt", ev_paired_diff_clt, NULL, 4, false, false, ANY, NONE, 0x1p53, 1e-15, 0, 1},

    {"f1", ev_f1, NULL, 3, false, false, SHARE, HITS, 0x1p53, 0, 1e-12, 1},
    {"precision", ev_precision, NULL, 2, false, false, SHARE, HITS, 0x1p53, 0, 1e-12, 1},
    {"recall", ev_recall, NULL, 2, false, false, SHARE, HITS, 0x1p53, 0, 1e-12, 1},
};
enum { METHODS = sizeof methods / sizeof *methods };

static void random_counts(const method *m, double *c) {
  double total = 0;
  for (int i = 0; i < m->size; i += 1 + m->pairs) {
    if (m->pairs) {
      c[i + 1] = fmax(1, random_size(m->largest));
      c[i] = random_part(c[i + 1]);
    } else {
      c[i] = random_size(m->largest / m->size);
      total += c[i];
    }
  }
  if (!m->pairs && total == 0) c[one_of(m->size)] = 1;
}

/* Moves the counts by as much as there is room for; false when there is none. */
static bool move(const method *m, const double *by, const double *c, double *moved) {
  double most = fmax(1, random_size(m->largest)), any = 0;
  for (int i = 0; i < m->size; i++) {
    any += fabs(by[i]);
    if (by[i] < 0) most = fmin(most, c[i]);
    if (by[i] > 0) most = fmin(most, (m->pairs ? c[i + 1] : m->largest) - c[i]);
  }
  double total = 0, times = floor(exp(uniform(0, log(fmax(1, most)))));
  for (int i = 0; i < m->size; i++) total += moved[i] = c[i] + by[i] * times;
  return any > 0 && most >= 1 && total > 0;
}

static ev_interval ask(const method *m, const double *c, const ev_options *options) {
  if (m->model) return m->model(c, options);
  double p = m->probability(c);
  return (ev_interval){p, p};
}

/* One set of counts at two levels. */
typedef struct trial {
  const method *method;
  double counts[4];
  ev_options narrow, wide;
} trial;

/* x is at most y, but for the slack; and the largest excess is kept. */
static void at_most(const trial *t, double x, double y, const char *what, double *worst) {
  const method *m = t->method;
  bool absolute = m->absolute > 0;
  double excess = x <= y ? 0 : x - y, scale = absolute ? 1 : fmin(fabs(x), fabs(y));
  if (!(excess <= *worst * scale)) *worst = excess / scale;
  if (excess <= (absolute ? m->absolute : m->relative) * scale) { /* not when it is NaN */
    passed++;
    return;
  }
  failed++;
  printf("FAILED %s %s: %.17g above %.17g at %.0f, %.0f, %.0f, %.0f, levels %.17g and %.17g, "
         "prior %g, %g\n",
         m->name, what, x, y, t->counts[0], t->counts[1], t->counts[2], t->counts[3],
         t->narrow.level, t->wide.level, t->narrow.a, t->narrow.b);
}

static void check_interval(const trial *t, ev_interval ci, record *r) {
  at_most(t, ci.lo, ci.hi, "is out of order", &r->unordered);
  bool inside = ci.lo >= t->method->least && ci.hi <= t->method->most;
  check(inside, t->method->name, ci.lo, ci.hi);
}

static void check_nested(const trial *t, ev_interval ci, ev_interval around, record *r) {
  at_most(t, around.lo, ci.lo, "is not contained in a wider level's", &r->unnested);
  at_most(t, ci.hi, around.hi, "is not contained in a wider level's", &r->unnested);
}

static trial random_trial(const method *m) {
  trial t = {.method = m, .narrow = {random_level(), 1, 1}};
  random_counts(m, t.counts);
  if (m->prior && one_of(2)) {
    t.narrow.a = pow(10, uniform(-3, 6));
    t.narrow.b = pow(10, uniform(-3, 6));
  }
  t.wide = t.narrow;
  t.wide.level = random_level();
  if (t.wide.level < t.narrow.level) {
    ev_options other = t.wide;
    t.wide = t.narrow;
    t.narrow = other;
  }
  return t;
}

static void try_once(const method *m, record *r) {
  trial t = random_trial(m);
  double moved[4] = {0};
  ev_interval ci = ask(m, t.counts, &t.narrow);
  r->cases++;
  check_interval(&t, ci, r);
  if (m->model) check_nested(&t, ci, ask(m, t.counts, &t.wide), r);
  if (!move(m, m->moves[one_of(MOVES)], t.counts, moved)) return;
  ev_interval raised = ask(m, moved, &t.narrow);
  at_most(&t, ci.lo, raised.lo, "falls when raised", &r->falling);
  at_most(&t, ci.hi, raised.hi, "falls when raised", &r->falling);
}

/*
** Clusters.  One more right answer may lower a bound here, for it can make clusters
** less alike; exchanging right and wrong mirrors the interval instead.
*/
static const method clustered = {
    .name = "clustered", .least = 0, .most = 1, .absolute = 2e-9, .cost = 100};

static bool ask_clusters(const ev_cluster *clusters, size_t count, const ev_options *options,
                         ev_interval *ci) {
  return ev_clustered(clusters, count, options, (ev_host){NULL, NULL}, ci) == EV_DONE;
}

static void try_clusters(record *r) {
  enum { MOST = 12 };
  ev_cluster clusters[MOST], mirror[MOST];
  size_t count = 1 + (size_t)one_of(MOST);
  double most = pow(10, uniform(0, 6));
  for (size_t i = 0; i < count; i++) {
    double n = fmax(1, random_size(most));
    clusters[i] = (ev_cluster){random_part(n), n, fmax(1, random_size(one_of(3) ? 3 : 1000))};
    mirror[i] = (ev_cluster){n - clusters[i].k, n, clusters[i].times};
  }
  trial t = {.method = &clustered,
             .counts = {clusters[0].k, clusters[0].n, clusters[0].times, (double)count},
             .narrow = {uniform(0.01, 0.99), 1, 1},
             .wide = {1 - pow(10, uniform(-9, -2)), 1, 1}};
  ev_interval ci, around, mirrored;
  if (!ask_clusters(clusters, count, &t.narrow, &ci)) return;
  r->cases++;
  check_interval(&t, ci, r);
  if (ask_clusters(clusters, count, &t.wide, &around)) check_nested(&t, ci, around, r);
  if (!ask_clusters(mirror, count, &t.narrow, &mirrored)) return;
  at_most(&t, fabs(ci.lo + mirrored.hi - 1), 0, "is not mirrored", &r->falling);
  at_most(&t, fabs(ci.hi + mirrored.lo - 1), 0, "is not mirrored", &r->falling);
}

static void print_row(const method *m, const record *r) {
  printf("%-16s %9ld  %-9.1e %-9.1e %-9.1e %.0e %s\n", m->name, r->cases, r->unordered, r->falling,
         r->unnested, m->absolute > 0 ? m->absolute : m->relative,
         m->absolute > 0 ? "absolute" : "relative");
}

int main(int argc, char **argv) {
  record records[METHODS + 1] = {0}, *last = &records[METHODS];
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: properties ROUNDS [SEED]\n");
    return 2;
  }
  long rounds = atol(argv[1]);
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  gsl_set_error_handler_off();
  for (int i = 0; i < METHODS; i++)
    for (long j = 0; j <= rounds / methods[i].cost; j++) try_once(&methods[i], &records[i]);
  for (long j = 0; j <= rounds / clustered.cost; j++) try_clusters(last);
  printf("%-16s %9s  %-9s %-9s %-9s %s\n", "method", "cases", "disorder", "falling", "unnested",
         "slack");
  for (int i = 0; i < METHODS; i++) print_row(&methods[i], &records[i]);
  print_row(&clustered, last);
  return check_summary();
}
