/*
** Tests means of graded scores: compares the models of ext/stats/mean.h and mean_diff.h
** with their references, prints the worst error of each, and checks properties that hold
** for any scores.
**
**     mean FILE.csv
**
** A file's columns are method, level, range_lo, range_hi, margin, lo, hi, rows and others.  Rows
** are scores, as 0.5 or 0.5x12; score/weight, total/size or score/task; or even:1000 and
** square:1000, for which make_scores() makes the scores.
*/
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "../../ext/stats/dirichlet.h"
#include "../../ext/stats/lanes.h"
#include "../../ext/stats/macro.h"
#include "../../ext/stats/mean.h"
#include "../../ext/stats/mean_diff.h"
#include "../../ext/stats/moments.h"
#include "../../ext/stats/proportion.h"
#include "../../ext/stats/unpaired.h"
#include "../check.h"
#include "../random.h"

enum { MOST_ROWS = 1000000, MOST_TEXT = 1 << 16 };

static const ev_host no_host = {0};
static ev_score scores[MOST_ROWS], other_scores[MOST_ROWS];
static ev_weighted_score weighted[64];
static ev_score_cluster clusters[64];
static ev_task_score task_scores[64];

/*
** References
*/
typedef struct method {
  const char *name;
  bool probability;
  double bar; /* of the error relative to the range, or of the relative error of a probability */
  int least;  /* the least number of references */
  int rows;
  double worst;
} method;

static method methods[] = {
    {"mean", false, 1e-13, 50, 0, 0},
    {"mean_lmt", false, 1e-13, 40, 0, 0},
    {"mean_clt", false, 1e-14, 14, 0, 0},
    {"mean_t", false, 1e-13, 14, 0, 0},
    {"macro", false, 1e-13, 20, 0, 0},
    {"mean_prob_above", true, 1e-11, 14, 0, 0},
    {"no_worse_prob", true, 1e-11, 10, 0, 0},
    {"weighted_mean", false, 1e-13, 10, 0, 0},
    {"clustered_mean", false, 1e-13, 12, 0, 0},
    {"paired_mean_diff", false, 1e-13, 18, 0, 0},
    {"paired_mean_prob_better", true, 1e-11, 14, 0, 0},
    {"clustered_diff", false, 1e-13, 7, 0, 0},
    {"clustered_prob_better", true, 1e-12, 6, 0, 0},
    {"mean_diff", false, 1e-12, 14, 0, 0},
    {"mean_prob_better", true, 1e-12, 12, 0, 0},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* (i * 7919 mod a prime) / the prime, or its square. */
static size_t make_scores(const char *shape, ev_score *to) {
  size_t count = strtoul(strchr(shape, ':') + 1, NULL, 10), prime = count < 10007 ? 10007 : 1000003;
  for (size_t i = 0; i < count; i++) {
    double x = (double)((i + 1) * 7919 % prime) / (double)prime;
    to[i] = (ev_score){shape[0] == 'e' ? x : x * x, 1};
  }
  return count;
}

/* Reads rows of up to two numbers, and how often each occurs. */
static size_t read_rows(const char *text, double (*to)[3]) {
  char *at = (char *)text;
  size_t count = 0;
  for (; *at && *at != '\n'; at += *at == ' ') {
    to[count][0] = strtod(at, &at);
    to[count][1] = *at == '/' ? strtod(at + 1, &at) : 1;
    to[count++][2] = *at == 'x' ? strtod(at + 1, &at) : 1;
  }
  return count;
}

static size_t read_scores(const char *text, ev_score *to) {
  double rows[64][3];
  if (strchr(text, ':')) return make_scores(text, to);
  size_t count = read_rows(text, rows);
  for (size_t i = 0; i < count; i++) to[i] = (ev_score){rows[i][0], rows[i][2]};
  return count;
}

/* The result of a method, or NaNs, which fail every comparison. */
static ev_status moments_interval(ev_moment_model *model, const ev_score *rows, size_t count,
                                  const ev_options *options, ev_interval *ci) {
  ev_moments m = {.n = 0};
  for (size_t i = 0; i < count; i++) ev_moments_add(&m, rows[i].score, rows[i].times);
  return model(&m, options, no_host, ci);
}

static ev_interval answer(const char *name, const char *rows, const char *others,
                          const ev_options *options) {
  double list[64][3], p = NAN;
  ev_interval ci = {NAN, NAN};
  ev_status status = EV_NOT_CONVERGED;
  size_t count = read_scores(rows, scores),
         more = *others > ' ' ? read_scores(others, other_scores) : 0;
  size_t listed = strchr(rows, ':') ? 0 : read_rows(rows, list);
  for (size_t i = 0; i < listed; i++) {
    weighted[i] = (ev_weighted_score){list[i][0], list[i][1], list[i][2]};
    clusters[i] = (ev_score_cluster){list[i][0], list[i][1], list[i][2]};
  }
  size_t tasks = 0;
  for (size_t i = 0; i < listed; i++) {
    task_scores[i] = (ev_task_score){list[i][0], list[i][2], (size_t)list[i][1]};
    if (tasks <= task_scores[i].task) tasks = task_scores[i].task + 1;
  }
  ev_score_list a = {scores, count}, b = {other_scores, more};
  ev_options above = *options;
  above.threshold = options->margin;
  if (!strcmp(name, "macro")) status = ev_macro(task_scores, listed, tasks, options, no_host, &ci);
  if (!strcmp(name, "mean_t")) status = moments_interval(ev_mean_t, scores, count, options, &ci);
  if (!strcmp(name, "mean_prob_above"))
    status = ev_mean_prob_above(scores, count, &above, no_host, &p);
  if (!strcmp(name, "no_worse_prob"))
    status = ev_no_worse_prob(scores, count, options, no_host, &p);
  if (!strcmp(name, "mean")) status = ev_mean(scores, count, options, no_host, &ci);
  if (!strcmp(name, "mean_lmt")) status = ev_mean_lmt(scores, count, options, no_host, &ci);
  if (!strcmp(name, "mean_clt"))
    status = moments_interval(ev_mean_clt, scores, count, options, &ci);
  if (!strcmp(name, "weighted_mean"))
    status = ev_weighted_mean(weighted, count, options, no_host, &ci);
  if (!strcmp(name, "clustered_mean"))
    status = ev_clustered_mean(clusters, count, options, no_host, &ci);
  if (!strcmp(name, "paired_mean_diff"))
    status = ev_paired_mean_diff(scores, count, options, no_host, &ci);
  if (!strcmp(name, "clustered_diff"))
    status = ev_clustered_mean_diff(clusters, count, options, no_host, &ci);
  if (!strcmp(name, "paired_mean_prob_better"))
    status = ev_paired_mean_prob_better(scores, count, options, no_host, &p);
  if (!strcmp(name, "clustered_prob_better"))
    status = ev_clustered_mean_prob_better(clusters, count, options, no_host, &p);
  if (!strcmp(name, "mean_diff")) status = ev_mean_diff(&a, &b, options, no_host, &ci);
  if (!strcmp(name, "mean_prob_better")) status = ev_mean_prob_better(&a, &b, options, no_host, &p);
  if (!isnan(p)) ci = (ev_interval){p, 1 - p};
  return status == EV_OK ? ci : (ev_interval){NAN, NAN};
}

/* The larger of two errors; NaN counts as the largest. */
static double worse(double x, double y) {
  return isnan(x) || x > y ? x : y;
}

static char *next_field(char **at) {
  char *field = *at, *end = field + strcspn(field, ",\n");
  *at = *end ? end + 1 : end;
  *end = 0;
  return field;
}

static void check_reference(char *line) {
  char whole[120];
  snprintf(whole, sizeof whole, "%.110s", line);
  const char *name = next_field(&line);
  ev_options options = {.a = 1, .b = 1};
  options.level = strtod(next_field(&line), NULL);
  options.lo = strtod(next_field(&line), NULL);
  options.hi = strtod(next_field(&line), NULL);
  options.margin = strtod(next_field(&line), NULL);
  ev_interval want = {.lo = strtod(next_field(&line), NULL)};
  want.hi = strtod(next_field(&line), NULL);
  const char *rows = next_field(&line), *others = next_field(&line);
  ev_interval got = answer(name, rows, others, &options);
  for (int i = 0; i < METHODS; i++) {
    method *m = &methods[i];
    if (strcmp(m->name, name)) continue;
    double low = fabs(got.lo - want.lo), high = fabs(got.hi - want.hi);
    double scale = options.hi - options.lo;
    /* For probabilities: the smaller of the probability and its complement. */
    if (m->probability) scale = fmax(fmin(want.lo, want.hi), 1e-300);
    if (!strcmp(name, "mean_clt") || !strcmp(name, "mean_t"))
      scale = fmax(fabs(want.lo), fabs(want.hi));
    double error = worse(low, high) / scale;
    /* A bound close to 0 keeps its digits. */
    bool near_end = options.lo == 0 && want.lo > 0 && want.lo < 1e-3;
    if (near_end && !m->probability) error = worse(error, low / want.lo);
    m->rows++;
    m->worst = worse(m->worst, error);
    check(error <= m->bar, whole, got.lo, want.lo);
    return;
  }
  check(false, whole, 0, 0);
}

static void check_references(const char *path) {
  static char line[MOST_TEXT];
  FILE *f = fopen(path, "r");
  if (!f) {
    perror(path);
    exit(2);
  }
  if (!fgets(line, sizeof line, f)) exit(2);
  while (fgets(line, sizeof line, f)) check_reference(line);
  fclose(f);
  for (int i = 0; i < METHODS; i++) {
    printf("%s%-*s %5d  %-9.1e %-9.1e %.0e %s\n", methods[i].name,
           26 - (int)strlen(methods[i].name), methods[i].probability ? "" : "_ci", methods[i].rows,
           methods[i].worst, 0.0, methods[i].bar,
           methods[i].probability ? "relative" : "of the range");
    check(methods[i].rows >= methods[i].least, methods[i].name, methods[i].rows, methods[i].least);
  }
}

/*
** Identities
*/
static int random_below(int n) {
  return (int)(random_share() * n);
}

static const double levels[] = {1e-9, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999999, 1 - 1e-12};
enum { LEVELS = sizeof levels / sizeof *levels };

static ev_options unit_options(double level) {
  return (ev_options){.level = level, .a = 1, .b = 1, .lo = 0, .hi = 1};
}

static bool same_interval(ev_interval a, ev_interval b) {
  return a.lo == b.lo && a.hi == b.hi;
}

typedef ev_status score_model(const ev_score *, size_t, const ev_options *, ev_host, ev_interval *);

static ev_interval interval_of(score_model *model, const ev_score *rows, size_t count,
                               const ev_options *options) {
  ev_interval ci = {NAN, NAN};
  ev_status status = model(rows, count, options, no_host, &ci);
  check(status == EV_OK, "status", status, EV_OK);
  return status == EV_OK ? ci : (ev_interval){NAN, NAN};
}

/* Scores at the ends of the range have the bits of a proportion, except that the interval reaches
** an end at which all scores are. */
static void check_zero_one(void) {
  static const double counts[][2] = {{0, 1},   {1, 1},    {18, 20},   {0, 10},
                                     {20, 20}, {7, 1000}, {5e8, 1e9}, {1, 1e9}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int j = 0; j < LEVELS; j++) {
      ev_options options = unit_options(levels[j]);
      double k = counts[i][0], n = counts[i][1];
      ev_score rows[] = {{1, k}, {0, n - k}};
      const ev_score *first = k > 0 ? rows : rows + 1;
      size_t count = k > 0 && k < n ? 2 : 1;
      ev_interval bayes, cp, got = interval_of(ev_mean, first, count, &options);
      ev_bayes(counts[i], &options, no_host, &bayes);
      if (k == 0) bayes.lo = 0;
      if (k == n) bayes.hi = 1;
      ev_cp(counts[i], &options, no_host, &cp);
      check(same_interval(got, bayes), "ev_mean of 0 and 1 is ev_bayes", got.lo, bayes.lo);
      got = interval_of(ev_mean_lmt, first, count, &options);
      check(same_interval(got, cp), "ev_mean_lmt of 0 and 1 is ev_cp", got.lo, cp.lo);
    }
}

/* With a score close to an end, the interval is close to that of a proportion: the two algorithms
** join without a jump. */
static void check_seam(void) {
  for (int j = 1; j < LEVELS; j++) {
    ev_options options = unit_options(levels[j]);
    ev_score rows[] = {{1, 18}, {1e-300, 2}};
    ev_interval bayes, cp, got = interval_of(ev_mean, rows, 2, &options);
    ev_bayes((double[]){18, 20}, &options, no_host, &bayes);
    ev_cp((double[]){18, 20}, &options, no_host, &cp);
    double error = worse(fabs(got.lo / bayes.lo - 1), fabs((1 - got.hi) / (1 - bayes.hi) - 1));
    check(error < 1e-12, "ev_mean next to ev_bayes", error, 0);
    got = interval_of(ev_mean_lmt, rows, 2, &options);
    error = worse(fabs(got.lo / cp.lo - 1), fabs((1 - got.hi) / (1 - cp.hi) - 1));
    check(error < 1e-12, "ev_mean_lmt next to ev_cp", error, 0);
  }
}

/* Random rows of many sizes, whose scores rounding cannot merge. */
static size_t random_rows(ev_score *rows, double lo, double hi) {
  size_t count = (size_t)(1 + random_below(12));
  int kind = random_below(5);
  for (size_t i = 0; i < count; i++) {
    double x = random_share();
    if (kind == 1) x = 0.7 + 1e-12 * x;
    if (kind == 2) x = pow(10, -15 * x);
    if (kind == 3) x = 1 - pow(10, -15 * x);
    if (kind == 4) x = random_below(5) / 4.0;
    x = lo + (hi - lo) * x;
    rows[i] = (ev_score){fmin(hi, fmax(lo, x)), 1 + random_below(3)};
    if (random_below(6) == 0) rows[i].times = floor(pow(10, 9 * random_share()));
  }
  return count;
}

static void shuffle(ev_score *rows, size_t count) {
  for (size_t i = count - 1; i > 0; i--) {
    size_t j = (size_t)random_below((int)i + 1);
    ev_score row = rows[i];
    rows[i] = rows[j], rows[j] = row;
  }
}

/* Splits a row that occurs several times into several rows. */
static size_t part_rows(ev_score *rows, size_t count) {
  size_t parted = count;
  for (size_t i = 0; i < count; i++)
    if (rows[i].times > 1) {
      rows[parted++] = (ev_score){rows[i].score, 1};
      rows[i].times -= 1;
    }
  return parted;
}

static void check_bounds(ev_interval ci, const ev_options *options, double least, double most) {
  (void)options;
  check(ci.lo < ci.hi, "a width", ci.lo, ci.hi);
  check(ci.lo >= least && ci.hi <= most, "within the range", ci.lo, ci.hi);
}

static void check_one_model(void) {
  static score_model *const models[] = {ev_mean, ev_mean_lmt, ev_paired_mean_diff};
  static const double ranges[][2] = {{0, 1}, {1, 5}, {-1e6, 1e6}, {0, 100}, {-1, 0}};
  for (int round = 0; round < 600; round++) {
    const double *range = ranges[random_below(5)];
    ev_options options = {
        .level = levels[random_below(LEVELS)], .a = 1, .b = 1, .lo = range[0], .hi = range[1]};
    score_model *model = models[round % 3];
    bool diff = model == ev_paired_mean_diff;
    double least = diff ? range[0] - range[1] : range[0], most = diff ? -least : range[1];
    ev_score rows[32], scaled[32];
    size_t count = random_rows(rows, least, most);
    ev_interval ci = interval_of(model, rows, count, &options);
    check_bounds(ci, &options, least, most);
    for (size_t i = 0; i < count; i++)
      scaled[i] = (ev_score){rows[i].score * 0x1p-20, rows[i].times};
    ev_options small = options;
    small.lo *= 0x1p-20, small.hi *= 0x1p-20;
    ev_interval other = interval_of(model, scaled, count, &small);
    check(other.lo == ci.lo * 0x1p-20 && other.hi == ci.hi * 0x1p-20, "scaled", other.lo * 0x1p20,
          ci.lo);
    if (diff) {
      for (size_t i = 0; i < count; i++) scaled[i] = (ev_score){-rows[i].score, rows[i].times};
      other = interval_of(model, scaled, count, &options);
      check(other.lo == -ci.hi && other.hi == -ci.lo, "signs changed", other.lo, -ci.hi);
    }
    count = part_rows(rows, count);
    shuffle(rows, count);
    other = interval_of(model, rows, count, &options);
    check(same_interval(ci, other), "row order and merging", other.lo, ci.lo);
  }
}

/* A range three times as large changes the result only by rounding. */
static void check_scaling(void) {
  for (int round = 0; round < 200; round++) {
    ev_score rows[32];
    size_t count = random_rows(rows, 0, 1);
    ev_options options = unit_options(levels[1 + random_below(LEVELS - 1)]);
    ev_interval ci = interval_of(ev_mean, rows, count, &options);
    for (size_t i = 0; i < count; i++) rows[i].score *= 3;
    options.hi = 3;
    ev_interval large = interval_of(ev_mean, rows, count, &options);
    check(fabs(large.lo / 3 - ci.lo) < 1e-14 && fabs(large.hi / 3 - ci.hi) < 1e-14,
          "three times the range", large.lo / 3, ci.lo);
  }
}

static void check_paired_probabilities(void) {
  for (int round = 0; round < 300; round++) {
    ev_score rows[32];
    size_t count = random_rows(rows, -1, 1);
    ev_options options = unit_options(0.95);
    options.margin = round % 3 ? random_share() - 0.5 : 0;
    double p, q;
    check(ev_paired_mean_prob_better(rows, count, &options, no_host, &p) == EV_OK, "status", 0, 0);
    for (size_t i = 0; i < count; i++) rows[i].score = -rows[i].score;
    options.margin = -options.margin;
    check(ev_paired_mean_prob_better(rows, count, &options, no_host, &q) == EV_OK, "status", 0, 0);
    check(q == 1 - p || p == 1 - q, "complements", q, 1 - p);
    check(p >= 0 && p <= 1, "a probability", p, 0);
  }
  ev_score even[] = {{-0.5, 3}, {0.5, 3}, {0, 4}};
  ev_options options = unit_options(0.95);
  double p = 0;
  ev_paired_mean_prob_better(even, 3, &options, no_host, &p);
  check(p == 0.5, "even differences", p, 0.5);
  options.margin = 1;
  ev_paired_mean_prob_better(even, 3, &options, no_host, &p);
  check(p == 0, "no difference is larger than the range", p, 0);
  options.margin = -1;
  ev_paired_mean_prob_better(even, 3, &options, no_host, &p);
  check(p == 1, "every difference is larger than minus the range", p, 1);
}

/* P(mean > bound) is the mass beyond the bound. */
static void check_inverse(void) {
  int compared = 0;
  for (int round = 0; round < 200; round++) {
    ev_score rows[32];
    size_t count = random_rows(rows, -1, 1);
    ev_options options = unit_options((double[]){0.5, 0.95, 0.999999}[round % 3]);
    ev_interval ci = interval_of(ev_paired_mean_diff, rows, count, &options);
    double p = NAN;
    /* Only where the last digit of the bound does not matter. */
    if (ci.hi - ci.lo < 1e-3 || ci.hi > 0.999) continue;
    options.margin = ci.hi;
    ev_paired_mean_prob_better(rows, count, &options, no_host, &p);
    check(fabs(p / ev_tail(&options) - 1) < 1e-9, "the mass beyond a bound", p, ev_tail(&options));
    compared++;
  }
  check(compared >= 50, "bounds whose mass was compared", compared, 50);
}

/* Clusters of one question, or of equal size, are like rows; equal weights are like no weights. */
static void check_sizes(void) {
  for (int round = 0; round < 100; round++) {
    ev_score rows[32];
    size_t count = random_rows(rows, 0, 1);
    ev_options options = unit_options(levels[1 + random_below(LEVELS - 1)]);
    ev_interval ci = interval_of(ev_mean, rows, count, &options), other = {NAN, NAN};
    for (size_t i = 0; i < count; i++) {
      clusters[i] = (ev_score_cluster){8 * rows[i].score, 8, rows[i].times};
      weighted[i] = (ev_weighted_score){rows[i].score, 0.125, rows[i].times};
    }
    ev_clustered_mean(clusters, count, &options, no_host, &other);
    check(fabs(other.lo - ci.lo) < 1e-14 && fabs(other.hi - ci.hi) < 1e-14, "clusters of one size",
          other.lo, ci.lo);
    ev_weighted_mean(weighted, count, &options, no_host, &other);
    check(fabs(other.lo - ci.lo) < 1e-14 && fabs(other.hi - ci.hi) < 1e-14, "equal weights",
          other.lo, ci.lo);
  }
}

static void check_hard_weights(void) {
  for (int round = 0; round < 300; round++) {
    size_t count = (size_t)(1 + random_below(12));
    for (size_t i = 0; i < count; i++) {
      double weight = pow(10, (round % 2 ? 9 : 300) * (2 * random_share() - 1));
      weighted[i] = (ev_weighted_score){random_below(3) ? random_share() : random_below(2), weight,
                                        1 + random_below(2)};
      clusters[i] = (ev_score_cluster){0, floor(pow(10, 6 * random_share())), 1 + random_below(3)};
      clusters[i].total = clusters[i].size * (2 * random_share() - 1);
    }
    ev_options options = unit_options(levels[random_below(LEVELS)]);
    ev_interval ci = {NAN, NAN}, other = {NAN, NAN};
    check(ev_weighted_mean(weighted, count, &options, no_host, &ci) == EV_OK, "weights", 0, 0);
    check(ci.lo >= 0 && ci.hi <= 1 && ci.lo < ci.hi, "weights far apart", ci.lo, ci.hi);
    check(ev_clustered_mean_diff(clusters, count, &options, no_host, &ci) == EV_OK, "sizes", 0, 0);
    check_bounds(ci, &options, -1, 1);
    for (size_t i = 0; i < count; i++) clusters[i].total = -clusters[i].total;
    ev_clustered_mean_diff(clusters, count, &options, no_host, &other);
    check(other.lo == -ci.hi && other.hi == -ci.lo, "clusters' signs changed", other.lo, -ci.hi);
  }
}

/* Two models on different questions; with scores 0 and 1 also against ev_diff. */
static void check_two_models(void) {
  static const double counts[][4] = {{18, 20, 12, 20},
                                     {1, 1, 0, 1},
                                     {500, 1000, 480, 1000},
                                     {3, 5, 900000, 1000000},
                                     {1, 1e9, 3, 1e9}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int j = 1; j < LEVELS - 1; j++) {
      ev_options options = unit_options(levels[j]);
      const double *c = counts[i];
      ev_score first[] = {{1, c[0]}, {0, c[1] - c[0]}}, second[] = {{0, c[3] - c[2]}, {1, c[2]}};
      ev_score_list a = {first, c[0] < c[1] ? 2 : 1}, b = {second, c[2] > 0 ? 2 : 1};
      ev_interval want, got = {NAN, NAN};
      check(ev_mean_diff(&a, &b, &options, no_host, &got) == EV_OK, "status", 0, 0);
      ev_diff(c, &options, no_host, &want);
      check(fabs(got.lo - want.lo) < 1e-12 && fabs(got.hi - want.hi) < 1e-12,
            "ev_mean_diff of 0 and 1 is ev_diff", got.lo, want.lo);
      double p = NAN, q;
      ev_mean_prob_better(&a, &b, &options, no_host, &p);
      ev_prob_better(c, &options, no_host, &q);
      check(fabs(p / q - 1) < 1e-11, "ev_mean_prob_better of 0 and 1 is ev_prob_better", p, q);
    }
  for (int round = 0; round < 60; round++) {
    ev_score rows[32], others[32];
    ev_score_list a = {rows, random_rows(rows, 1, 5)}, b = {others, random_rows(others, 1, 5)};
    ev_options options = {
        .level = levels[random_below(LEVELS)], .lo = 1, .hi = 5, .margin = 8 * random_share() - 4};
    if (round % 4 == 0) options.margin = 0;
    if (round % 8 == 0) b = a;
    ev_interval ci = {NAN, NAN}, turned = {NAN, NAN};
    double p = NAN, q = NAN;
    check(ev_mean_diff(&a, &b, &options, no_host, &ci) == EV_OK, "status", 0, 0);
    check(ev_mean_prob_better(&a, &b, &options, no_host, &p) == EV_OK, "status", 0, 0);
    check_bounds(ci, &options, -4, 4);
    ev_mean_diff(&b, &a, &options, no_host, &turned);
    options.margin = -options.margin;
    ev_mean_prob_better(&b, &a, &options, no_host, &q);
    check(turned.lo == -ci.hi && turned.hi == -ci.lo, "models exchanged", turned.lo, -ci.hi);
    check(q == 1 - p || p == 1 - q, "models exchanged, complements", q, 1 - p);
  }
}

/* Merging atoms does not change the result. */
static void check_merging(void) {
  enum { MANY = 20000 };
  static ev_atom atoms[MANY + 2];
  static const double masses[] = {0.495, 0.025, 5e-7, 5e-13};
  for (int shape = 0; shape < 6; shape++) {
    for (int i = 0; i < MANY; i++) {
      double u = random_share(), x = u;
      if (shape == 1) x = 1e-6 * u;
      if (shape == 2) x = 1 - 1e-4 * u;
      if (shape == 3) x = i % 2 ? 0.1 + 0.01 * u : 0.9 + 0.01 * u;
      if (shape == 4) x = 0.7 + 1e-12 * u;
      if (shape == 5) x = exp(-30 * u);
      atoms[i] = (ev_atom){x, 1 - x, 1 + i % 3};
    }
    atoms[MANY] = (ev_atom){0, 1, shape % 2 ? 1 : 0.5};
    atoms[MANY + 1] = (ev_atom){1, 0, shape % 2 ? 1 : 0.5};
    ev_dirichlet merged, all;
    ev_dirichlet_make(&merged, atoms, MANY + 2, EV_MERGE_MANY, no_host);
    ev_dirichlet_make(&all, atoms, MANY + 2, EV_MERGE_NONE, no_host);
    check(merged.count < MANY / 2 && all.count == MANY + 2, "merged to", (double)merged.count,
          MANY);
    for (int i = 0; i < 8; i++) {
      ev_point m, n;
      ev_status a = i % 2 ? ev_dirichlet_lower(&merged, masses[i / 2], &m)
                          : ev_dirichlet_upper(&merged, masses[i / 2], &m);
      ev_status b = i % 2 ? ev_dirichlet_lower(&all, masses[i / 2], &n)
                          : ev_dirichlet_upper(&all, masses[i / 2], &n);
      check(a == EV_OK && b == EV_OK, "status", a, b);
      double error = m.x < m.y ? fabs(m.x / n.x - 1) : fabs(m.y / n.y - 1);
      check(error < 1e-12, "merged and not", m.x, n.x);
    }
    ev_dirichlet_free(&merged);
    ev_dirichlet_free(&all);
  }
}

/* ln(1 + w) and the angle in lanes, against the C library's. */
static void check_lanes(void) {
  double worst_ln = 0, worst_angle = 0;
  for (int i = 0; i < 200000; i++) {
    double w = (random_share() - 0.999) * pow(10, 20 * random_share() - 15),
           turn = 6.28 * random_share();
    double size = pow(10, 30 * random_share() - 15);
    if (w <= -0.999999) continue;
    ev_lanes ln = {w, w, w, w}, x = ln, y = ln, angle;
    for (int j = 0; j < EV_LANES; j++) x[j] = size * cos(turn), y[j] = size * sin(turn);
    ev_log1p(&ln, 1);
    ev_angle(&x, &y, &angle);
    for (int j = 0; j < EV_LANES; j++) {
      worst_ln = worse(worst_ln, fabs(ln[j] / log1p(w) - 1));
      worst_angle = worse(worst_angle, fabs(angle[j] / atan2(y[0], x[0]) - 1));
    }
  }
  check(worst_ln < 1e-15, "ln(1 + w) in lanes", worst_ln, 0);
  check(worst_angle < 1e-15, "angles in lanes", worst_angle, 0);
}

static bool stop_at_once(void *context) {
  ++*(int *)context;
  return true;
}

static void check_interrupts(void) {
  int asked = 0;
  ev_host host = {.interrupted = stop_at_once, .context = &asked};
  ev_options options = unit_options(0.95);
  ev_score rows[] = {{0.25, 10}, {0.5, 20}}, few[] = {{0.25, 1}, {0.5, 2}};
  ev_score_list list = {rows, 2};
  ev_interval ci;
  double p;
  check(ev_mean(rows, 2, &options, host, &ci) == EV_INTERRUPTED, "ev_mean interrupted", asked, 1);
  check(ev_mean_lmt(rows, 2, &options, host, &ci) == EV_INTERRUPTED, "ev_mean_lmt interrupted",
        asked, 1);
  check(ev_mean_diff(&list, &list, &options, host, &ci) == EV_INTERRUPTED,
        "ev_mean_diff interrupted", asked, 1);
  check(ev_paired_mean_prob_better(few, 2, &options, host, &p) == EV_INTERRUPTED, "P interrupted",
        asked, 1);
}

/* Of one score x the lower bound is x times a quantile of Beta(2, 1), and the upper one mirrors it.
 */
static void check_one_score(void) {
  for (int i = 1; i < 1000; i++) {
    ev_options options = unit_options(levels[i % LEVELS]);
    double x = i / 1000.0, root = sqrt(ev_tail(&options));
    ev_interval ci = interval_of(ev_mean, &(ev_score){x, 1}, 1, &options);
    double off = fmax(fabs(ci.lo / (x * root) - 1), fabs((1 - ci.hi) - (1 - x) * root));
    check(off < 1e-14, "one score", ci.lo, x * root);
  }
}

/* The interval of a mean contains the mean of the scores. */
static void check_holds_data(void) {
  for (int round = 0; round < 400; round++) {
    ev_score rows[32];
    size_t count = random_rows(rows, 0, 1);
    ev_options options = unit_options(levels[4 + random_below(LEVELS - 4)]);
    ev_interval ci = interval_of(ev_mean, rows, count, &options);
    double sum = 0, n = 0;
    for (size_t i = 0; i < count; i++) sum += rows[i].times * rows[i].score, n += rows[i].times;
    check(ci.lo <= sum / n + 1e-14 && ci.hi >= sum / n - 1e-14, "holds the mean", ci.lo, sum / n);
  }
}

/* P(mean > bound) is the tail of the level at the upper bound, and its complement at the lower. */
static void check_above(void) {
  for (int round = 0; round < 200; round++) {
    ev_score rows[32];
    size_t count = random_rows(rows, 0, 1);
    ev_options options = unit_options((double[]){0.5, 0.95, 0.999999}[round % 3]);
    ev_interval ci = interval_of(ev_mean, rows, count, &options);
    double tail = ev_tail(&options), p = NAN;
    if (ci.hi - ci.lo < 1e-3 || ci.hi > 0.999 || ci.lo < 0.001) continue;
    options.threshold = ci.hi;
    ev_mean_prob_above(rows, count, &options, no_host, &p);
    check(fabs(p / tail - 1) < 1e-8, "the mass above a bound", p, tail);
    options.threshold = ci.lo;
    ev_mean_prob_above(rows, count, &options, no_host, &p);
    check(fabs((1 - p) / tail - 1) < 1e-8, "the mass below a bound", 1 - p, tail);
  }
}

/* The order of tasks and the merging of rows change no digit; one task alone gives ev_mean; and
** counts of right answers give the result of the rows. */
static void check_macro(void) {
  enum { TASKS = 6, ROWS = 40 };
  for (int round = 0; round < 300; round++) {
    ev_task_score rows[ROWS], other[ROWS];
    size_t tasks = (size_t)(1 + random_below(TASKS)), count = tasks;
    for (size_t i = 0; i < ROWS; i++) {
      double x = round % 2 ? random_below(2) : random_below(9) / 8.0;
      rows[i] = (ev_task_score){x, 1, i < tasks ? i : (size_t)random_below((int)tasks)};
    }
    count += (size_t)random_below(ROWS - TASKS);
    for (size_t i = 0; i < count; i++) {
      other[i] = rows[count - 1 - i];
      other[i].task = tasks - 1 - other[i].task;
    }
    ev_options options = unit_options(levels[random_below(LEVELS)]);
    ev_interval ci = {NAN, NAN}, turned = {NAN, NAN};
    check(ev_macro(rows, count, tasks, &options, no_host, &ci) == EV_OK, "status", 0, 0);
    check_bounds(ci, &options, 0, 1);
    ev_macro(other, count, tasks, &options, no_host, &turned);
    check(same_interval(ci, turned), "the order of tasks and rows", turned.lo, ci.lo);
    ev_score plain[ROWS];
    ev_cluster counted[TASKS] = {{0, 0, 1}};
    for (size_t i = 0; i < tasks; i++) counted[i] = (ev_cluster){0, 0, 1};
    for (size_t i = 0; i < count; i++) {
      plain[i] = (ev_score){rows[i].score, 1};
      counted[rows[i].task].k += rows[i].score;
      counted[rows[i].task].n += 1;
    }
    if (tasks == 1)
      check(same_interval(ci, interval_of(ev_mean, plain, count, &options)), "one task", ci.lo, 0);
    if (round % 2 == 0) continue;
    ev_macro_counts(counted, tasks, &options, no_host, &turned);
    check(same_interval(ci, turned), "right and wrong by counts", turned.lo, ci.lo);
  }
}

static void add_rows(ev_moments *m, const ev_score *rows, size_t count, double times) {
  for (size_t i = 0; i < count; i++) ev_moments_add(m, rows[i].score, times * rows[i].times);
}

/* Rows in any order, merged or not, and rows that came and went. */
static void check_moments(void) {
  ev_options options = unit_options(0.95);
  ev_score alike[] = {{0.7, 10}}, rows[32], parted[64];
  ev_interval ci, other;
  moments_interval(ev_mean_clt, alike, 1, &options, &ci);
  check(ci.lo == 0.7 && ci.hi == 0.7, "the CLT interval collapses", ci.lo, 0.7);
  for (int round = 0; round < 200; round++) {
    ev_moments m = {.n = 0};
    double most = ldexp(1, round % 2 ? 20 : 10 * round - 1070);
    size_t count = 1 + random_rows(rows, -most, most);
    rows[count - 1] = (ev_score){most / 1e9, 2};
    moments_interval(ev_mean_clt, rows, count, &options, &ci);
    add_rows(&m, (ev_score[]){{1e308, 1}, {-5e-324, 3}, {0.1, 0x1p40}}, 3, 1);
    memcpy(parted, rows, sizeof rows);
    size_t parts = part_rows(parted, count);
    shuffle(parted, parts);
    add_rows(&m, parted, parts, 1);
    add_rows(&m, (ev_score[]){{0.1, 0x1p40}, {1e308, 1}, {-5e-324, 3}}, 3, -1);
    ev_mean_clt(&m, &options, no_host, &other);
    check(same_interval(ci, other), "CLT, rows in another order", other.lo, ci.lo);
  }
  /* A thousand copies of 2^e + 1, and of 2^e - 1: the standard deviation is 1. */
  for (int e = 1; e < 53; e++) {
    ev_score pair[] = {{ldexp(1, e) + 1, 1000}, {ldexp(1, e) - 1, 1000}};
    moments_interval(ev_mean_clt, pair, 2, &options, &ci);
    double half = 1.9599639845400542 / sqrt(1999);
    check(fabs((ci.hi - ci.lo) / 2 - half) <= 1e-15 * half + ldexp(1, e - 52), "two numbers",
          (ci.hi - ci.lo) / 2, half);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: mean FILE.csv\n");
    return 2;
  }
  random_seed(1);
  gsl_set_error_handler_off();
  check_references(argv[1]);
  check_zero_one();
  check_seam();
  check_one_model();
  check_scaling();
  check_paired_probabilities();
  check_inverse();
  check_sizes();
  check_hard_weights();
  check_two_models();
  check_merging();
  check_lanes();
  check_interrupts();
  check_one_score();
  check_holds_data();
  check_above();
  check_macro();
  check_moments();
  return check_summary();
}
