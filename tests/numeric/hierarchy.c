/*
** Tests the posterior of the Beta-binomial hierarchy, attempts, and each cluster's own
** accuracy: compares them with references, prints the worst error of each method, and checks
** identities that need no reference.
**
**     hierarchy FILE.csv...
**
** The head of a file names its columns.  Rows of other methods are ignored.
*/
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_expint.h>

#include "../../ext/stats/each.h"
#include "../../ext/stats/gauss.h"
#include "../../ext/stats/hierarchy.h"
#include "../../ext/stats/icc.h"
#include "../../ext/stats/marginal.h"
#include "../../ext/stats/nested.h"
#include "../../ext/stats/pass.h"
#include "../../ext/stats/proportion.h"
#include "../../ext/stats/rising.h"
#include "../check.h"

static const ev_host nobody = {0};

static ev_options options_of(double level, ev_prior prior, double attempts) {
  return (ev_options){.level = level, .a = 1, .b = 1, .prior = prior, .attempts = attempts};
}

/* Clusters as text: 3/5 1/4x10. */
static ev_cluster *parse_clusters(const char *text, size_t *count) {
  ev_cluster *clusters = NULL;
  char *at = (char *)text;
  *count = 0;
  while (*at && *at != '\n') {
    clusters = realloc(clusters, (*count + 1) * sizeof *clusters);
    if (!clusters) exit(2);
    ev_cluster *next = &clusters[(*count)++];
    next->k = strtod(at, &at);
    next->n = strtod(at + 1, &at);
    next->times = *at == 'x' ? strtod(at + 1, &at) : 1;
    at += *at == ' ';
  }
  return clusters;
}

static ev_interval ask(ev_cluster_model *model, const char *text, double level, ev_prior prior,
                       double attempts) {
  size_t count;
  ev_cluster *clusters = parse_clusters(text, &count);
  ev_options options = options_of(level, prior, attempts);
  ev_interval ci = {NAN, NAN};
  if (model(clusters, count, &options, nobody, &ci) != EV_OK) ci = (ev_interval){NAN, NAN};
  free(clusters);
  return ci;
}

/* The posterior of a cluster with k of n among those in the text. */
static ev_each ask_each(const char *text, double level, ev_prior prior, double k, double n) {
  size_t count;
  ev_cluster *clusters = parse_clusters(text, &count);
  ev_each *each = calloc(count, sizeof *each), found = {NAN, NAN, NAN};
  ev_options options = options_of(level, prior, 0);
  if (!each) exit(2);
  if (ev_clustered_each(clusters, count, &options, nobody, each) == EV_OK)
    for (size_t i = 0; i < count; i++)
      if (clusters[i].k == k && clusters[i].n == n) found = each[i];
  free(each);
  free(clusters);
  return found;
}

/* Questions as text: k/n/task, tasks from 1. */
static ev_item *parse_items(const char *text, ev_items *items) {
  ev_item *list = NULL;
  char *at = (char *)text;
  *items = (ev_items){0};
  while (*at && *at != '\n') {
    list = realloc(list, (items->count + 1) * sizeof *list);
    if (!list) exit(2);
    ev_item *next = &list[items->count++];
    next->k = strtod(at, &at);
    next->n = strtod(at + 1, &at);
    next->task = strtoul(at + 1, &at, 10) - 1;
    next->times = *at == 'x' ? strtod(at + 1, &at) : 1;
    if (next->task >= items->tasks) items->tasks = next->task + 1;
    at += *at == ' ';
  }
  items->list = list;
  return list;
}

/* The posterior of a task, by its number from 0, or of a share, by its name. */
static ev_each ask_nested(const char *text, double level, ev_prior prior, const char *part) {
  ev_items items;
  ev_item *list = parse_items(text, &items);
  ev_each *each = calloc(items.tasks, sizeof *each), found = {NAN, NAN, NAN};
  ev_options options = options_of(level, prior, 0);
  ev_noise noise;
  if (!each) exit(2);
  if (*part >= '0' && *part <= '9') {
    if (ev_nested_each(&items, &options, nobody, each) == EV_OK) found = each[*part - '0'];
  } else if (ev_nested_noise(&items, &options, nobody, &noise) == EV_OK) {
    found = *part == 't' ? noise.tasks : *part == 'q' ? noise.questions : noise.reruns;
  }
  free(each);
  free(list);
  return found;
}

/*
** References
*/
typedef struct reference {
  const char *method;
  double bar, mean_bar, worst;
  int rows;
} reference;

static reference references[] = {
    {"clustered_each", 1e-10, 1e-10, 0, 0},
    {"nested_each", 1e-8, 1e-8, 0, 0},
    {"noise", 1e-6, 1e-8, 0, 0},
};
enum {
  REFERENCES = sizeof references / sizeof *references,
  MOST_COLUMNS = 16,
  LEAST_REFERENCES = 15
};

typedef struct record {
  int count;
  char *columns[MOST_COLUMNS];
} record;

static record part(char *text) {
  record r = {0};
  for (char *at = strtok(text, ",\n"); at && r.count < MOST_COLUMNS; at = strtok(NULL, ",\n"))
    r.columns[r.count++] = at;
  return r;
}

static const char *named(const record *head, const record *r, const char *name) {
  for (int i = 0; i < head->count && i < r->count; i++)
    if (strcmp(head->columns[i], name) == 0) return r->columns[i];
  return NULL;
}

static double number(const record *head, const record *r, const char *name) {
  const char *text = named(head, r, name);
  return text ? strtod(text, NULL) : NAN;
}

static void compare(reference *ref, double got, const record *head, const record *r,
                    const char *name) {
  double wanted = number(head, r, name), error = fabs(got - wanted);
  double bar = strcmp(name, "mean") == 0 ? ref->mean_bar : ref->bar;
  if (!(error <= ref->worst)) ref->worst = error;
  if (!(error <= bar)) {
    for (int i = 0; i < r->count; i++) printf("%.60s ", r->columns[i]);
    printf("\n");
  }
  check(error <= bar, name, got, wanted);
}

static void compare_row(reference *ref, const record *head, const record *r) {
  const char *prior = named(head, r, "prior"), *rows = named(head, r, "rows");
  double level = number(head, r, "level");
  if (!prior || !rows) exit(2);
  ev_prior given = strcmp(prior, "icc") == 0 ? EV_PRIOR_ICC : EV_PRIOR_GAMMA;
  ref->rows++;
  const char *of = named(head, r, "part");
  ev_each each = of ? ask_nested(rows, level, given, of)
                    : ask_each(rows, level, given, number(head, r, "k"), number(head, r, "n"));
  compare(ref, each.mean, head, r, "mean");
  compare(ref, each.lo, head, r, "lo");
  compare(ref, each.hi, head, r, "hi");
}

static void compare_file(const char *path) {
  static char first[1000], line[1 << 22];
  FILE *file = fopen(path, "r");
  if (!file || !fgets(first, sizeof first, file)) {
    fprintf(stderr, "hierarchy: cannot read %s\n", path);
    exit(2);
  }
  record head = part(first);
  while (fgets(line, sizeof line, file)) {
    record r = part(line);
    for (int i = 0; i < REFERENCES; i++)
      if (r.count > 0 && strcmp(r.columns[0], references[i].method) == 0)
        compare_row(&references[i], &head, &r);
  }
  fclose(file);
}

/*
** Values that were computed elsewhere, and closed forms
*/
static const char small_suite[] = "3/5 5/5 1/4 0/2";

static void close_to(ev_interval got, double lo, double hi, double bar, const char *what) {
  check(fabs(got.lo - lo) <= bar, what, got.lo, lo);
  check(fabs(got.hi - hi) <= bar, what, got.hi, hi);
}

static void four_clusters_have_known_answers(void) {
  ev_each each = ask_each(small_suite, 0.95, EV_PRIOR_GAMMA, 3, 5);
  close_to((ev_interval){each.lo, each.hi}, 0.20941680, 0.90706927, 6e-9, "3 of 5");
  each = ask_each(small_suite, 0.95, EV_PRIOR_GAMMA, 1, 4);
  close_to((ev_interval){each.lo, each.hi}, 0.02622879, 0.72613200, 6e-9, "1 of 4");
}

/* After one right answer to one question, E theta_t = 2 E theta_t^2 of the prior, which is 1/3 +
** E[1/(1+d)]/6; E[1/(1+d)] is 1/2 under 'icc' and e E1(1) under Gamma(1,1). */
static void one_answer_has_a_known_mean(void) {
  double icc = ask_each("1/1", 0.95, EV_PRIOR_ICC, 1, 1).mean;
  double gamma = ask_each("1/1", 0.95, EV_PRIOR_GAMMA, 1, 1).mean;
  double tie = M_E * gsl_sf_expint_E1(1);
  check(fabs(icc - 5.0 / 6) < 1e-11, "mean of 1/1, icc", icc, 5.0 / 6);
  check(fabs(gamma - (2.0 / 3 + tie / 3)) < 1e-11, "mean of 1/1", gamma, 2.0 / 3 + tie / 3);
}

/* R(x) of 5,000 different counts, more than one bin has, against its product factor by factor. */
static void many_rising_factorials_are_products(void) {
  enum { COUNTS = 5000 };
  static const double points[] = {0, 1e-9, 0.3, 2, 31, 700, 1e5, 3e9, 1e15};
  const double scale = 1e5; /* below the first tabulated x, where a term must be added */
  static ev_rising sums;
  static ev_tally counts[COUNTS];
  for (int i = 0; i < COUNTS; i++) counts[i] = (ev_tally){COUNTS - i, 1 + i % 3};
  ev_rising_make(&sums, counts, COUNTS);
  for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
    long double sum = 0, rise = 0;
    for (int k = 1; k <= COUNTS; k++) {
      sum += (1 + (COUNTS - k) % 3) * rise;
      rise += log1pl((long double)points[p] / k);
    }
    double got = ev_rising_at(&sums, points[p]), wanted = (double)sum;
    check(fabs(got - wanted) <= 5e-15 * fmax(wanted, scale), "rising factorials", got, wanted);
  }
}

/* Legendre's recurrence gives the nodes of the Gauss-Legendre rules, which ext/stats has as a
** table. */
static void gauss_rules_come_from_recurrences(void) {
  double nodes[EV_NODES] = {0}, off[EV_NODES], weights[EV_NODES];
  for (int i = 0; i + 1 < EV_NODES; i++) off[i] = (i + 1) / sqrt(4 * gsl_pow_2(i + 1) - 1);
  ev_status status = ev_gauss_rule(nodes, off, EV_NODES, weights);
  check(status == EV_OK, "a rule", status, EV_OK);
  for (int i = 0; i < EV_NODES; i++) {
    int nearest = 0;
    for (int j = 1; j < EV_NODES; j++)
      if (fabs(nodes[j] - ev_node(i)) < fabs(nodes[nearest] - ev_node(i))) nearest = j;
    check(fabs(nodes[nearest] - ev_node(i)) < 1e-14, "node", nodes[nearest], ev_node(i));
    check(fabs(2 * weights[nearest] - ev_weight(i)) < 1e-14, "weight", 2 * weights[nearest],
          ev_weight(i));
  }
}

/*
** Identities
*/
static void one_attempt_is_the_mean_of_shares(void) {
  ev_score shares[] = {{0.6, 1}, {1, 1}, {0.25, 1}, {0, 1}};
  ev_options options = {.level = 0.9, .lo = 0, .hi = 1};
  ev_interval mean = {NAN, NAN};
  ev_mean(shares, 4, &options, nobody, &mean);
  ev_interval at = ask(ev_pass_at_k, small_suite, 0.9, EV_PRIOR_GAMMA, 1);
  ev_interval hat = ask(ev_pass_hat_k, small_suite, 0.9, EV_PRIOR_GAMMA, 1);
  check(at.lo == mean.lo && at.hi == mean.hi, "pass@1", at.lo, mean.lo);
  check(hat.lo == mean.lo && hat.hi == mean.hi, "pass^1", hat.lo, mean.lo);
}

static void more_attempts_raise_one_and_lower_the_other(void) {
  static const char *const suites[] = {"9/40 40/40 12/40 0/40", "1/40", "0/40", "7/40x30",
                                       "0/40x9 40/40x20"};
  static const double attempts[] = {1, 2, 3, 31, 32, 33, 40};
  for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
    ev_interval at = {0, 0}, hat = {1, 1};
    for (size_t k = 0; k < sizeof attempts / sizeof *attempts; k++) {
      ev_interval more = ask(ev_pass_at_k, suites[i], 0.95, EV_PRIOR_GAMMA, attempts[k]);
      ev_interval less = ask(ev_pass_hat_k, suites[i], 0.95, EV_PRIOR_GAMMA, attempts[k]);
      check(more.lo >= at.lo && more.hi >= at.hi, "pass@k rises", more.lo, at.lo);
      check(less.lo <= hat.lo && less.hi <= hat.hi, "pass^k falls", less.hi, hat.hi);
      check(more.lo >= 0 && more.lo < more.hi && more.hi <= 1, "pass@k", more.lo, more.hi);
      at = more;
      hat = less;
    }
  }
}

/* P(at least one of k right) is the complement of P(all k wrong). */
static void right_and_wrong_are_complements(void) {
  ev_interval at = ask(ev_pass_at_k, "3/5 5/5 1/4 0/2 1/9x3", 0.95, EV_PRIOR_ICC, 2);
  ev_interval hat = ask(ev_pass_hat_k, "2/5 0/5 3/4 2/2 8/9x3", 0.95, EV_PRIOR_ICC, 2);
  close_to(at, 1 - hat.hi, 1 - hat.lo, 1e-14, "complements");
  ev_each one = ask_each("3/5 5/5 1/4 0/2", 0.95, EV_PRIOR_ICC, 1, 4);
  ev_each other = ask_each("2/5 0/5 3/4 2/2", 0.95, EV_PRIOR_ICC, 3, 4);
  close_to((ev_interval){one.lo, one.hi}, 1 - other.hi, 1 - other.lo, 1e-12, "own, mirrored");
}

/* Neither the order of clusters nor how equal ones are merged changes a digit. */
static void order_changes_no_digit(void) {
  static const char *const same[] = {"3/5 70/90x2 1/4 41/60 3/5 1/4x2", "1/4x3 41/60 70/90x2 3/5x2",
                                     "41/60 3/5x2 70/90 1/4 70/90 1/4x2"};
  ev_interval first = ask(ev_pass_hat_k, same[0], 0.95, EV_PRIOR_ICC, 3);
  ev_each own = ask_each(same[0], 0.95, EV_PRIOR_ICC, 1, 4);
  for (int i = 1; i < 3; i++) {
    ev_interval ci = ask(ev_pass_hat_k, same[i], 0.95, EV_PRIOR_ICC, 3);
    ev_each each = ask_each(same[i], 0.95, EV_PRIOR_ICC, 1, 4);
    check(ci.lo == first.lo && ci.hi == first.hi, "order, pass^3", ci.lo, first.lo);
    check(each.lo == own.lo && each.hi == own.hi && each.mean == own.mean, "order, own", each.lo,
          own.lo);
  }
}

/* A cluster with very many answers is not shrunken. */
static void shrinkage_ends_with_many_answers(void) {
  ev_each many = ask_each("700000/1000000 1/4 2/5 0/3", 0.95, EV_PRIOR_ICC, 700000, 1000000);
  ev_options options = options_of(0.95, EV_PRIOR_ICC, 0);
  ev_interval alone = {NAN, NAN};
  ev_bayes((double[]){700000, 1000000}, &options, nobody, &alone);
  close_to((ev_interval){many.lo, many.hi}, alone.lo, alone.hi, 1e-5, "a million answers");
}

/* With one attempt per question tasks are clusters, whose share is the intraclass correlation. */
static void one_attempt_leaves_two_levels(void) {
  const char *nested = "1/1/1x3 0/1/1x2 1/1/2x5 1/1/3 0/1/3x3 0/1/4x2";
  for (int prior = EV_PRIOR_GAMMA; prior <= EV_PRIOR_ICC; prior++) {
    ev_each own = ask_nested(nested, 0.95, (ev_prior)prior, "0");
    ev_each two = ask_each(small_suite, 0.95, (ev_prior)prior, 3, 5);
    check(own.mean == two.mean && own.lo == two.lo && own.hi == two.hi, "two levels", own.lo,
          two.lo);
  }
  /* The quantiles of 1/(1+d) in that hierarchy, by Gauss-Legendre panels in Python. */
  ev_each tasks = ask_nested(nested, 0.95, EV_PRIOR_ICC, "tasks");
  close_to((ev_interval){tasks.lo, tasks.hi}, 0.0470494259815568, 0.8228761588609556, 1e-8,
           "the tasks' share");
}

/* Neither the order of questions and tasks nor how equal ones are merged changes a digit. */
static void order_of_questions_changes_no_digit(void) {
  static const char *const same[] = {"1/3/1 3/3/1x2 0/2/2 2/4/2 1/3/3 3/3/3x2",
                                     "2/4/3 0/2/3 3/3/1 3/3/2 1/3/2 3/3/2 3/3/1 1/3/1"};
  static const char *const parts[][2] = {{"0", "0"}, {"1", "2"}, {"reruns", "reruns"}};
  for (int i = 0; i < 3; i++) {
    ev_each one = ask_nested(same[0], 0.95, EV_PRIOR_ICC, parts[i][0]);
    ev_each other = ask_nested(same[1], 0.95, EV_PRIOR_ICC, parts[i][1]);
    check(one.mean == other.mean && one.lo == other.lo && one.hi == other.hi, "order, nested",
          one.lo, other.lo);
  }
}

/* If all answers are wrong, a bound may underflow to 0; if all are right, it may round to 1. */
static void bounds_reach_the_ends(void) {
  ev_each wrong = ask_each("0/2x400", 0.95, EV_PRIOR_ICC, 0, 2);
  ev_each right = ask_each("2/2x400", 0.95, EV_PRIOR_ICC, 2, 2);
  check(wrong.lo >= 0 && wrong.lo < 1e-100, "all wrong", wrong.lo, 0);
  check(right.hi == 1, "all right", right.hi, 1);
  check(fabs(right.lo - (1 - wrong.hi)) < 1e-11, "mirrored", right.lo, 1 - wrong.hi);
  check(right.mean < 1 && wrong.mean > 0, "means", right.mean, wrong.mean);
  /* Both bounds may. */
  wrong = ask_each("0/2x400", 0.01, EV_PRIOR_ICC, 0, 2);
  right = ask_each("2/2x400", 0.01, EV_PRIOR_ICC, 2, 2);
  check(wrong.lo == 0 && wrong.hi == 0, "both bounds at 0", wrong.lo, wrong.hi);
  check(right.lo == 1 && right.hi == 1, "both bounds at 1", right.lo, right.hi);
}

/*
** One question: exact where a double can be exact, and otherwise close to the product
*/
static void estimates_are_exact(void) {
  check(ev_pass_at_k_estimate(3, 5, 2) == 0.9, "pass_at_k(3,5,2)", ev_pass_at_k_estimate(3, 5, 2),
        0.9);
  check(ev_pass_hat_k_estimate(3, 5, 2) == 0.3, "pass_hat_k(3,5,2)",
        ev_pass_hat_k_estimate(3, 5, 2), 0.3);
  for (double n = 1; n <= 70; n = floor(1.5 * n) + 1)
    for (double c = 0; c <= n; c++)
      for (double k = 1; k <= n; k++) {
        long double miss = 1;
        for (double j = 0; j < k; j++) miss *= (long double)fmax(0, n - c - j) / (n - j);
        double at = ev_pass_at_k_estimate(c, n, k), hat = ev_pass_hat_k_estimate(n - c, n, k);
        check(fabsl(at - (1 - miss)) <= 1e-14L * (1 - miss), "pass_at_k", at, (double)(1 - miss));
        check(fabsl(hat - miss) <= 1e-14L * miss, "pass_hat_k", hat, (double)miss);
      }
}

static void estimates_of_many_attempts(void) {
  double n = 0x1p53;
  check(ev_pass_at_k_estimate(1, n, 1) == 0x1p-53, "one of 2^53", ev_pass_at_k_estimate(1, n, 1),
        0x1p-53);
  check(ev_pass_at_k_estimate(0, n, n) == 0, "none", ev_pass_at_k_estimate(0, n, n), 0);
  check(ev_pass_hat_k_estimate(n, n, n) == 1, "all", ev_pass_hat_k_estimate(n, n, n), 1);
  check(ev_pass_hat_k_estimate(n - 1, n, n) == 0, "all but one",
        ev_pass_hat_k_estimate(n - 1, n, n), 0);
  /* 10^6 of 10^12 attempts that all avoid the 10^6 right ones: nearly a Poisson distribution with
  ** mean 1. */
  double miss = 1 - ev_pass_at_k_estimate(1e6, 1e12, 1e6), poisson = exp(-1.0 - 1e-6);
  check(fabs(miss - poisson) < 1e-11, "a million of 10^12", miss, poisson);
}

/*
** Statuses
*/
static bool stop_at_once(void *context) {
  ++*(int *)context;
  return true;
}

static void a_host_can_stop_the_work(void) {
  ev_cluster clusters[] = {{3, 5, 10}, {1, 4, 10}};
  ev_options options = options_of(0.95, EV_PRIOR_ICC, 2);
  ev_interval ci;
  ev_each each[2];
  int asked = 0;
  ev_host host = {.interrupted = stop_at_once, .context = &asked};
  check(ev_pass_at_k(clusters, 2, &options, host, &ci) == EV_INTERRUPTED && asked == 1, "pass@k",
        asked, 1);
  check(ev_clustered_each(clusters, 2, &options, host, each) == EV_INTERRUPTED && asked == 2,
        "each", asked, 2);
  ev_item questions[] = {{3, 5, 1, 0}, {1, 4, 1, 1}};
  ev_items items = {questions, 2, 2};
  ev_noise noise;
  check(ev_nested(&items, &options, host, &ci) == EV_INTERRUPTED && asked == 3, "nested", asked, 3);
  check(ev_nested_each(&items, &options, host, each) == EV_INTERRUPTED, "nested, each", asked, 4);
  check(ev_nested_noise(&items, &options, host, &noise) == EV_INTERRUPTED, "noise", asked, 5);
}

/* If rounding would decide the result, the status says so. */
static void too_many_questions_are_refused(void) {
  ev_cluster clusters[] = {{4e8, 1e9, 5e7}};
  ev_options options = options_of(0.95, EV_PRIOR_GAMMA, 5);
  ev_hierarchy h;
  ev_status status = ev_hierarchy_make(clusters, 1, &options, nobody, EV_FOR_BETAS, &h);
  check(status == EV_TOO_LARGE, "5e7 clusters of 1e9", status, EV_TOO_LARGE);
  ev_hierarchy_free(&h);
}

int main(int argc, char **argv) {
  gsl_set_error_handler_off();
  for (int i = 1; i < argc; i++) compare_file(argv[i]);
  for (int i = 0; i < REFERENCES; i++) {
    printf("%-26s %5d  %-9.1e %-9.1e %.0e absolute\n", references[i].method, references[i].rows,
           references[i].worst, 0.0, references[i].bar);
    check(references[i].rows >= LEAST_REFERENCES, references[i].method, references[i].rows,
          LEAST_REFERENCES);
  }
  four_clusters_have_known_answers();
  one_answer_has_a_known_mean();
  many_rising_factorials_are_products();
  gauss_rules_come_from_recurrences();
  one_attempt_is_the_mean_of_shares();
  more_attempts_raise_one_and_lower_the_other();
  right_and_wrong_are_complements();
  order_changes_no_digit();
  shrinkage_ends_with_many_answers();
  one_attempt_leaves_two_levels();
  order_of_questions_changes_no_digit();
  bounds_reach_the_ends();
  estimates_are_exact();
  estimates_of_many_attempts();
  a_host_can_stop_the_work();
  too_many_questions_are_refused();
  return check_summary();
}
