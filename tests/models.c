/*
** Compares the models of two proportions, of clusters and of metrics with their
** references, row by row, prints the worst error of each, and checks identities
** that need no reference.
**
**     models tests/reference
*/
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "../ext/stats/clustered.h"
#include "../ext/stats/marginal.h"
#include "../ext/stats/metrics.h"
#include "../ext/stats/paired.h"
#include "../ext/stats/proportion.h"
#include "../ext/stats/unpaired.h"
#include "check.h"

/*
** References: each method's bar, and how its error is measured
*/
typedef struct method {
  const char *file, *name;
  int counts; /* in the file; 0 for a list of clusters at the line's end */
  ev_model *model;
  ev_probability *probability;
  bool relative;
  double bar;
  int least;                 /* how many rows the file has, or more */
  double worst, worst_large; /* below 10^9 questions, and from there on */
  int rows;
} method;

static method methods[] = {
    {"unpaired.csv", "prob_better", 4, NULL, ev_prob_better, true, 1e-12, 150, 0, 0, 0},
    {"unpaired.csv", "diff", 4, ev_diff, NULL, true, 1e-10, 120, 0, 0, 0},
    {"unpaired.csv", "odds_ratio", 4, ev_odds_ratio, NULL, true, 1e-10, 120, 0, 0, 0},
    {"unpaired.csv", "fisher_or", 4, ev_fisher_or, NULL, true, 1e-8, 84, 0, 0, 0},
    {"unpaired.csv", "diff_clt", 4, ev_diff_clt, NULL, false, 1e-15, 30, 0, 0, 0},
    {"paired.csv", "paired_diff", 4, ev_paired_diff, NULL, false, 1e-8, 70, 0, 0, 0},
    {"paired.csv", "paired_prob", 4, NULL, ev_paired_prob_better, false, 1e-8, 45, 0, 0, 0},
    {"paired.csv", "paired_diff_clt", 4, ev_paired_diff_clt, NULL, false, 1e-15, 45, 0, 0, 0},
    {"clustered.csv", "clustered", 0, NULL, NULL, false, 1e-8, 110, 0, 0, 0},
    {"clustered.csv", "clustered_clt", 0, NULL, NULL, false, 1e-15, 26, 0, 0, 0},
    {"metrics.csv", "f1", 3, ev_f1, NULL, true, 1e-12, 24, 0, 0, 0},
    {"metrics.csv", "precision", 3, ev_precision, NULL, true, 1e-12, 20, 0, 0, 0},
    {"metrics.csv", "recall", 3, ev_recall, NULL, true, 1e-12, 20, 0, 0, 0},
};
enum { METHODS = sizeof methods / sizeof *methods };

static ev_cluster *read_clusters(char *text, size_t *count) {
  ev_cluster *clusters = NULL;
  *count = 0;
  for (char *c = text; *c && *c != '\n'; c += *c == ' ') {
    clusters = realloc(clusters, (*count + 1) * sizeof *clusters);
    if (!clusters) exit(2);
    ev_cluster *next = &clusters[(*count)++];
    next->k = strtod(c, &c);
    next->n = strtod(c + 1, &c);
    next->times = *c == 'x' ? strtod(c + 1, &c) : 1;
  }
  return clusters;
}

static ev_interval of_clusters(const method *m, char *text, const ev_options *options) {
  size_t count;
  ev_cluster *clusters = read_clusters(text, &count);
  ev_interval ci = {NAN, NAN};
  if (strcmp(m->name, "clustered") == 0)
    ev_clustered(clusters, count, options, (ev_host){NULL, NULL}, &ci);
  else
    ev_clustered_clt(clusters, count, options, (ev_host){NULL, NULL}, &ci);
  free(clusters);
  return ci;
}

/* At 10^9 questions the last digit of a theta is worth 1e-11 of P, and of a
** difference of rates near 1/2; and a P below 1e-12 is promised no bar, but is
** held to one. */
static void compare(method *m, double n, double got, double wanted, const char *line) {
  double error = got == wanted ? 0 : fabs(got - wanted), bar = m->bar;
  if (m->probability && m->relative && wanted < 1e-12) {
    check(error <= 1e-9 * wanted, line, got, wanted);
    return;
  }
  if (m->relative && error > 0) error /= fabs(wanted);
  if (n < 1e9 && !(error <= m->worst)) m->worst = error;
  if (n >= 1e9 && !(error <= m->worst_large)) m->worst_large = error;
  if (n >= 1e9) bar = fmax(bar, 1e-11);
  check(error <= bar, line, got, wanted);
}

/* One line of a file: method, counts, level, lo, hi; or method, level, lo, hi,
** clusters. */
static void compare_line(method *m, char *line) {
  double counts[4] = {0}, level, bounds[2];
  char shown[100], *c = strchr(line, ',');
  snprintf(shown, sizeof shown, "%.90s", line);
  for (int i = 0; i < m->counts; i++) counts[i] = strtod(c + 1, &c);
  level = strtod(c + 1, &c);
  bounds[0] = strtod(c + 1, &c);
  bounds[1] = strtod(c + 1, &c);
  ev_options options = {level, 1, 1};
  ev_interval ci;
  /* recall is of tp and fn, which are the first and the third column */
  if (strcmp(m->name, "recall") == 0) counts[1] = counts[2];
  if (m->counts == 0) {
    ci = of_clusters(m, c + 1, &options);
  } else if (m->probability) {
    ci.lo = m->probability(counts);
    double swapped[] = {counts[2], counts[3], counts[0], counts[1]};
    double exchanged[] = {counts[0], counts[2], counts[1], counts[3]};
    ci.hi = m->probability(strcmp(m->name, "prob_better") ? exchanged : swapped);
  } else {
    ci = m->model(counts, &options);
  }
  double n = fmax(counts[1], counts[3]);
  compare(m, n, ci.lo, bounds[0], shown);
  compare(m, n, ci.hi, bounds[1], shown);
  m->rows++;
}

static void compare_file(const char *folder, const char *name) {
  static char line[1 << 22];
  char path[1000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "models: cannot open %s\n", path);
    exit(2);
  }
  while (fgets(line, sizeof line, file))
    for (int i = 0; i < METHODS; i++) {
      size_t length = strlen(methods[i].name);
      if (strcmp(methods[i].file, name) == 0 && line[length] == ',' &&
          strncmp(line, methods[i].name, length) == 0) {
        compare_line(&methods[i], line);
        break;
      }
    }
  fclose(file);
}

/*
** Identities
*/
static const double unpaired_counts[][4] = {
    {18, 20, 12, 20}, {0, 1, 1, 1},   {5, 7, 3, 1000}, {999, 1000, 998, 1000},
    {3, 9, 3, 9},     {0, 30, 0, 40}, {1, 2, 2, 2},    {4, 10, 6, 10},
};
static const double paired_counts[][4] = {
    {12, 6, 0, 2}, {53, 16, 8, 9}, {3, 1, 2, 0}, {0, 4, 4, 0}, {40, 0, 0, 7}, {700, 120, 80, 100},
};

static void exchanging_mirrors(ev_model *model, ev_probability *probability, const double *a,
                               const double *b) {
  ev_options options = {0.9, 1, 1};
  ev_interval x = model(a, &options), y = model(b, &options);
  check(x.lo == -y.hi && x.hi == -y.lo, "exchanging A and B mirrors the interval", x.lo, -y.hi);
  /* A P below 2^-10 keeps more digits than 1 minus its complement has. */
  double p = probability(a), q = probability(b), greater = fmax(p, q), less = fmin(p, q);
  check(greater == 1 - less, "exchanging A and B gives 1 - P", greater, 1 - less);
  check(less == 1 - greater || less < 0x1p-10, "and back", less, 1 - greater);
}

static void exchanges(void) {
  for (size_t i = 0; i < sizeof unpaired_counts / sizeof *unpaired_counts; i++) {
    const double *c = unpaired_counts[i];
    double swapped[] = {c[2], c[3], c[0], c[1]};
    exchanging_mirrors(ev_diff, ev_prob_better, c, swapped);
  }
  for (size_t i = 0; i < sizeof paired_counts / sizeof *paired_counts; i++) {
    const double *c = paired_counts[i];
    double swapped[] = {c[0], c[2], c[1], c[3]};
    exchanging_mirrors(ev_paired_diff, ev_paired_prob_better, c, swapped);
  }
}

/* Right for wrong turns the sign of a difference, and so does A for B: both leave
** it.  The two calls meet other thetas, from the other ends of [0,1]. */
static void wrong_for_right_changes_nothing_of_pairs(void) {
  for (size_t i = 0; i < sizeof paired_counts / sizeof *paired_counts; i++) {
    const double *c = paired_counts[i];
    double mirror[] = {c[3], c[1], c[2], c[0]};
    ev_options options = {0.9, 1, 1};
    ev_interval x = ev_paired_diff(c, &options), y = ev_paired_diff(mirror, &options);
    double p = ev_paired_prob_better(c), q = ev_paired_prob_better(mirror);
    check(fabs(x.lo - y.lo) < 1e-8, "wrong for right", x.lo, y.lo);
    check(fabs(x.hi - y.hi) < 1e-8, "wrong for right", x.hi, y.hi);
    check(fabs(p - q) < 1e-8, "wrong for right, P", p, q);
  }
}

/* P(A > B) of two beta posteriors with integer parameters is a finite sum:
** sum over i <= k_a of B(b.a+i, a.b+b.b) / ((a.b+i) B(1+i, a.b) B(b.a, b.b)). */
static void prob_better_is_the_finite_sum(void) {
  for (size_t i = 0; i < sizeof unpaired_counts / sizeof *unpaired_counts; i++) {
    const double *c = unpaired_counts[i];
    double a1 = c[0] + 1, b1 = c[1] - c[0] + 1, a2 = c[2] + 1, b2 = c[3] - c[2] + 1, sum = 0;
    for (double j = 0; j < a1; j++)
      sum += exp(lgamma(a2 + j) + lgamma(b1 + b2) - lgamma(a2 + j + b1 + b2) - log(b1 + j) -
                 (lgamma(1 + j) + lgamma(b1) - lgamma(1 + j + b1)) -
                 (lgamma(a2) + lgamma(b2) - lgamma(a2 + b2)));
    /* The sum is P(B < A) with A's success counts running: of independent form. */
    check(fabs(ev_prob_better(c) - sum) < 1e-11, "P as a finite sum", ev_prob_better(c), sum);
  }
}

static void close_to(ev_interval got, double lo, double hi, double bar, const char *what) {
  check(fabs(got.lo - lo) <= bar * lo, what, got.lo, lo);
  check(fabs(got.hi - hi) <= bar * hi, what, got.hi, hi);
}

/* Of so many questions that three right answers fall to A or B like coins, the
** odds ratio is the odds of Clopper and Pearson's share.  The counts add up to more
** than a double holds. */
static void fisher_keeps_small_cells_of_large_tables(void) {
  static const double sizes[] = {0x1p50, 0x1p52, 0x1p52 + 1, 0x1p53 - 1, 0x1p53};
  ev_options options = {0.95, 1, 1};
  ev_interval share = ev_cp((double[]){1, 3}, &options);
  double lo = share.lo / (1 - share.lo), hi = share.hi / (1 - share.hi);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    double n = sizes[i];
    close_to(ev_fisher_or((double[]){1, n, 2, n}, &options), lo, hi, 1e-12, "one of three");
    close_to(ev_fisher_or((double[]){2, n, 1, n}, &options), 1 / hi, 1 / lo, 1e-12, "exchanged");
    close_to(ev_fisher_or((double[]){n - 1, n, n - 2, n}, &options), 1 / hi, 1 / lo, 1e-12,
             "wrong for right");
  }
}

/* Of very many questions the posterior of a difference is as normal as the CLT has
** it, also where the models nearly always, or nearly never, agree. */
static void many_pairs_are_normal(void) {
  static const double counts[][4] = {
      {0, 71678145, 14626960, 1}, {72, 14073006, 47143728, 18}, {724, 14350255631, 310249320, 14},
      {1e8, 3e7, 4e6, 2e8},       {9e11, 2e11, 8e11, 2e12},     {1e11, 4e4, 7e4, 3e11},
  };
  ev_options options = {0.95, 1, 1};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    ev_interval ci = ev_paired_diff(counts[i], &options);
    ev_interval clt = ev_paired_diff_clt(counts[i], &options);
    double bar = 0.001 * (clt.hi - clt.lo);
    check(fabs(ci.lo - clt.lo) < bar, "many pairs", ci.lo, clt.lo);
    check(fabs(ci.hi - clt.hi) < bar, "many pairs", ci.hi, clt.hi);
  }
}

/*
** The engine on densities of the test's own
*/
static double ln_normal(double z, void *context) {
  (void)context;
  return -z * z / 2;
}

static double ln_no_number(double z, void *context) {
  (void)context;
  return z > 1 ? NAN : -z * z / 2;
}

static double ln_nothing(double z, void *context) {
  (void)z;
  (void)context;
  return -HUGE_VAL;
}

/* More corners than there are panels. */
static double ln_rough(double z, void *context) {
  (void)context;
  return -z * z / 2 + fabs(sin(100 * z));
}

static void search(ev_marginal *m, ev_ln_density *ln_density) {
  ev_marginal_find(m, &(ev_search){.ln_density = ln_density,
                                   .start = 0.3,
                                   .width = 1,
                                   .least = -HUGE_VAL,
                                   .most = HUGE_VAL,
                                   .corner = 0,
                                   .cut = 40,
                                   .tolerance = 1e-11,
                                   .tail = 0.025,
                                   .budget = 100000});
}

static void the_engine_knows_the_normal(void) {
  ev_marginal m;
  search(&m, ln_normal);
  double z = 1.959963984540054, ln_total = 0.91893853320467274;
  check(fabs(ev_marginal_lower(&m, 0.025) + z) < 1e-10, "2.5%", ev_marginal_lower(&m, 0.025), -z);
  check(fabs(ev_marginal_upper(&m, 0.025) - z) < 1e-10, "97.5%", ev_marginal_upper(&m, 0.025), z);
  check(fabs(ev_marginal_above(&m, 0) - 0.5) < 1e-12, "half", ev_marginal_above(&m, 0), 0.5);
  check(fabs(ev_marginal_ln_total(&m) - ln_total) < 1e-11, "all", ev_marginal_ln_total(&m),
        ln_total);
}

static void a_broken_density_has_no_quantiles(void) {
  static ev_ln_density *const broken[] = {ln_no_number, ln_nothing};
  for (int i = 0; i < 2; i++) {
    ev_marginal m;
    search(&m, broken[i]);
    check(isnan(ev_marginal_lower(&m, 0.025)), "lower", ev_marginal_lower(&m, 0.025), NAN);
    check(isnan(ev_marginal_upper(&m, 0.025)), "upper", ev_marginal_upper(&m, 0.025), NAN);
    check(isnan(ev_marginal_above(&m, 0)), "above", ev_marginal_above(&m, 0), NAN);
    check(isnan(ev_marginal_ln_total(&m)), "total", ev_marginal_ln_total(&m), NAN);
  }
}

/* However rough a density is, its panels leave nothing out. */
static void panels_touch(void) {
  ev_marginal m;
  search(&m, ln_rough);
  check(m.count > EV_PANELS / 2 && m.count <= EV_PANELS, "panels", m.count, EV_PANELS);
  for (int i = 1; i < m.count; i++)
    check(m.panels[i].from == m.panels[i - 1].to, "panels touch", m.panels[i].from,
          m.panels[i - 1].to);
  check(m.panels[0].from < -7, "the first", m.panels[0].from, -7);
  check(m.panels[m.count - 1].to > 7, "the last", m.panels[m.count - 1].to, 7);
}

/* With one question a cluster there is nothing to be tied: Beta(k+1, n-k+1). */
static void single_questions_are_independent(void) {
  for (double n = 1; n < 3000; n = 3 * n + 1)
    for (double k = 0; k <= n; k = 2 * k + 1) {
      ev_cluster clusters[] = {{1, 1, k}, {0, 1, n - k}};
      const ev_cluster *given = k > 0 ? clusters : clusters + 1;
      size_t count = k > 0 && k < n ? 2 : 1;
      ev_options options = {0.95, 1, 1};
      ev_interval ci = {0, 0}, bayes = ev_bayes((double[]){k, n}, &options);
      ev_clustered(given, count, &options, (ev_host){NULL, NULL}, &ci);
      check(fabs(ci.lo - bayes.lo) < 1e-11, "clusters of one", ci.lo, bayes.lo);
      check(fabs(ci.hi - bayes.hi) < 1e-11, "clusters of one", ci.hi, bayes.hi);
    }
}

/* Where rounding would decide, it says so instead. */
static void too_many_questions_are_refused(void) {
  ev_cluster clusters[] = {{4e8, 1e9, 5e7}};
  ev_interval ci;
  ev_status status =
      ev_clustered(clusters, 1, &(ev_options){0.95, 1, 1}, (ev_host){NULL, NULL}, &ci);
  check(status == EV_TOO_LARGE, "5e7 clusters of 1e9", status, EV_TOO_LARGE);
}

static bool stop_at_once(void *context) {
  ++*(int *)context;
  return true;
}

/* A host that wants to stop is asked early, and heard. */
static void many_sizes_can_be_stopped(void) {
  enum { COUNT = 3000 };
  static ev_cluster clusters[COUNT];
  for (int i = 0; i < COUNT; i++) clusters[i] = (ev_cluster){i / 2, i + 1, 1};
  int asked = 0;
  ev_interval ci;
  ev_status status = ev_clustered(clusters, COUNT, &(ev_options){0.95, 1, 1},
                                  (ev_host){stop_at_once, &asked}, &ci);
  check(status == EV_STOPPED && asked == 1, "stopping", asked, 1);
}

int main(int argc, char **argv) {
  static const char *const files[] = {"unpaired.csv", "paired.csv", "clustered.csv", "metrics.csv"};
  if (argc != 2) {
    fprintf(stderr, "usage: models tests/reference\n");
    return 2;
  }
  gsl_set_error_handler_off();
  for (int i = 0; i < 4; i++) compare_file(argv[1], files[i]);
  printf("%-16s %5s  %-9s %-9s %s\n", "method", "rows", "worst", "n >= 1e9", "bar");
  for (int i = 0; i < METHODS; i++) {
    const method *m = &methods[i];
    printf("%-16s %5d  %-9.1e %-9.1e %.0e %s\n", m->name, m->rows, m->worst, m->worst_large, m->bar,
           m->relative ? "relative" : "absolute");
    check(m->rows >= m->least, "rows of the reference", m->rows, m->least);
  }
  exchanges();
  wrong_for_right_changes_nothing_of_pairs();
  prob_better_is_the_finite_sum();
  fisher_keeps_small_cells_of_large_tables();
  many_pairs_are_normal();
  the_engine_knows_the_normal();
  a_broken_density_has_no_quantiles();
  panels_touch();
  single_questions_are_independent();
  many_sizes_can_be_stopped();
  too_many_questions_are_refused();
  return check_summary();
}
