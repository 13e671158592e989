/*
** Tests the sign-flip test: compares ext/stats/sign_flip.h with its references, prints the worst
** errors, and checks properties that hold for any differences.
**
**     sign_flip FILE.csv
**
** A file's columns are method, p and rows; rows are differences, as 0.5 or 0.5x12.  The bar is
** 1e-12 of p where the method is exact, 1e-7 for inversion, and 5e-5 of p for more than 30
** differences of 24 sizes or more.
*/
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "../../ext/stats/mcnemar.h"
#include "../../ext/stats/sign_flip.h"
#include "../check.h"
#include "../random.h"

enum { MOST_ROWS = 200000 };

static const ev_host nobody = {0};
static ev_score rows[MOST_ROWS];

/* p, or NaN, which fails every comparison. */
static double p_of(const ev_score *diffs, size_t count) {
  double p = NAN;
  ev_status status = ev_paired_p(diffs, count, NULL, nobody, &p);
  return status == EV_OK ? p : NAN;
}

static double drawn_whole(double least, double most) {
  return least + floor(random_share() * (most - least + 1));
}

/*
** References
*/
typedef struct method {
  const char *name, *of;
  double bar;
  int least; /* the least number of references */
  int rows;
  double worst, worst_many;
} method;

static method methods[] = {
    {"paired_p", "relative", 1e-12, 48, 0, 0, 0},
    {"paired_p_inverted", "absolute", 1e-7, 11, 0, 0, 0},
    {"paired_p_of_many", "relative", 5e-5, 14, 0, 0, 0},
};
enum { PAIRED_P, INVERTED, MANY_SIZES, METHODS };

static size_t read_rows(char *at, double *total) {
  size_t count = 0;
  for (*total = 0; *at && *at != '\n'; at += *at == ' ', count++) {
    rows[count].score = strtod(at, &at);
    rows[count].times = *at == 'x' ? strtod(at + 1, &at) : 1;
    *total += rows[count].times;
  }
  return count;
}

static bool has_many_sizes(size_t count, double total) {
  size_t sizes = 0;
  for (size_t i = 0; i < count; i++) {
    bool new = rows[i].score != 0;
    for (size_t j = 0; j < i && new; j++) new = fabs(rows[j].score) != fabs(rows[i].score);
    sizes += new;
  }
  return total > 30 && sizes >= 24;
}

static void compare_row(char *line) {
  char *p_text = strchr(line, ','), *rows_text = p_text ? strchr(p_text + 1, ',') : NULL;
  if (!rows_text) exit(2);
  *p_text++ = *rows_text++ = 0;
  double wanted = strtod(p_text, NULL), total;
  size_t count = read_rows(rows_text, &total);
  double got = p_of(rows, count);
  bool inverted = strcmp(line, "paired_p") != 0;
  method *m = &methods[inverted ? INVERTED : has_many_sizes(count, total) ? MANY_SIZES : PAIRED_P];
  double error = fabs(got - wanted) / (inverted ? 1 : wanted);
  double *worst = total < 1e9 ? &m->worst : &m->worst_many;
  check(error <= m->bar, m->name, got, wanted);
  *worst = fmax(*worst, error);
  m->rows++;
}

static void compare_file(const char *path) {
  static char line[1 << 16];
  FILE *file = fopen(path, "r");
  if (!file || !fgets(line, sizeof line, file)) exit(2);
  while (fgets(line, sizeof line, file)) compare_row(line);
  fclose(file);
  for (int i = 0; i < METHODS; i++) {
    const method *m = &methods[i];
    check(m->rows >= m->least, "references of a method", m->rows, m->least);
    printf("%-30s %6d  %10.1e  %10.1e  %.0e %s\n", m->name, m->rows, m->worst, m->worst_many,
           m->bar, m->of);
  }
}

/*
** Every choice of signs
*/
static double p_by_signs(const double *d, int count) {
  double t = 0, all = 0, total = 0;
  for (int i = 0; i < count; i++) t += d[i], all += fabs(d[i]);
  for (int signs = 0; signs < 1 << count; signs++) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += signs >> i & 1 ? -d[i] : d[i];
    double beyond = fabs(sum) - fabs(t);
    total += fabs(beyond) <= 1e-11 * all ? 0.5 : beyond > 0;
  }
  return fabs(t) <= 1e-11 * all ? 1 : ldexp(total, -count);
}

static void all_signs(void) {
  static const double units[] = {1, 0.1, 1.0 / 3, 1e-300, 1e150, 0};
  for (int i = 0; i < 300; i++) {
    double d[16], unit = units[i % 6];
    int count = (int)drawn_whole(1, 14);
    for (int j = 0; j < count; j++) {
      d[j] = unit > 0 ? unit * drawn_whole(-4, 9) : random_share() - 0.3;
      rows[j] = (ev_score){d[j], 1};
    }
    double wanted = p_by_signs(d, count), got = p_of(rows, (size_t)count);
    check(fabs(got - wanted) <= 1e-14 * wanted, "every choice of signs", got, wanted);
  }
}

/*
** Identities
*/
static void one_size_is_mcnemar(void) {
  static const double sizes[] = {1, 0.1, 1e-200, 3, 0x1p500};
  for (int i = 0; i < 200; i++) {
    double a = floor(pow(10, random_share() * (i % 15))),
           b = floor(pow(10, random_share() * (i % 15)));
    double d = sizes[i % 5], wanted = ev_mid_p(fmin(a, b), fmax(a, b));
    ev_score pairs[] = {{d, a}, {0, 17}, {-d, b}};
    check(p_of(pairs, 3) == wanted, "one size", p_of(pairs, 3), wanted);
  }
  ev_score rounded[] = {{0.3 - 0.1, 8}, {0.2, 8}, {0.1 - 0.3, 5}, {-0.2, 3}, {0.1 + 0.2 - 0.3, 9}};
  check(p_of(rounded, 5) == ev_mid_p(8, 16), "one size but for rounding", p_of(rounded, 5), 0);
}

/* Random differences: few or many multiples of a unit, or without a unit. */
static size_t draw_rows(int kind) {
  size_t count = (size_t)drawn_whole(2, kind == 2 ? 60 : 30);
  for (size_t i = 0; i < count; i++) {
    rows[i].score = kind == 0 ? drawn_whole(-5, 7) / 5 : random_share() - 0.4;
    rows[i].times = kind == 1 ? 1 : drawn_whole(1, kind == 2 ? 3 : 400);
  }
  return count;
}

static void no_order_matters(void) {
  for (int i = 0; i < 30; i++) {
    size_t count = draw_rows(i % 3);
    double p = p_of(rows, count);
    check(p >= 0 && p <= 1, "a probability", p, 1);
    for (size_t j = count - 1; j > 0; j--) {
      size_t k = (size_t)drawn_whole(0, (double)j);
      ev_score kept = rows[j];
      rows[j] = rows[k], rows[k] = kept;
    }
    check(p_of(rows, count) == p, "another order", p_of(rows, count), p);
    for (size_t j = 0; j < count; j++) {
      rows[count + j] = (ev_score){rows[j].score, 1};
      if (rows[j].times > 1)
        rows[j].times--;
      else
        rows[count + j] = (ev_score){0, 3};
    }
    check(p_of(rows, 2 * count) == p, "differences apart, and zeros", p_of(rows, 2 * count), p);
    for (size_t j = 0; j < 2 * count; j++) rows[j].score *= -0x1p-30;
    check(p_of(rows, 2 * count) == p, "models exchanged, another scale", p_of(rows, 2 * count), p);
  }
}

/* x = 0: all signs are the same. */
static void one_sign(void) {
  for (int n = 2; n < 1100; n += n < 20 ? 1 : 60) {
    for (int i = 0; i < n; i++) rows[i] = (ev_score){random_share() + 0.1, 1};
    check(p_of(rows, (size_t)n) == ldexp(1, -n), "all positive", p_of(rows, (size_t)n), n);
  }
  rows[0] = (ev_score){1, 9e15}, rows[1] = (ev_score){0.3, 1};
  check(p_of(rows, 2) == 0, "all positive, and many", p_of(rows, 2), 0);
}

/* Differences whose sum is 0: p is 1. */
static void nothing_told(void) {
  ev_score even[] = {{0.1, 1}, {0.2, 1}, {-0.3, 1}};
  check(p_of(even, 3) == 1, "even sides", p_of(even, 3), 1);
  ev_score none[] = {{0, 4}};
  check(p_of(none, 1) == 1, "no difference", p_of(none, 1), 1);
  ev_score many[] = {{0.1, 3e15}, {0.2, 1e15}, {-0.5, 1e15}};
  check(p_of(many, 3) == 1, "even sides of many", p_of(many, 3), 1);
}

/* Numbers of differences just below and above the limit of the exact method. */
static void inversion_joins(void) {
  for (int i = 0; i < 6; i++) {
    double n = 13000 + 400 * i, last = NAN;
    for (int k = 0; k < 3; k++) {
      ev_score d[] = {
          {1, floor(n / 4) + k}, {-1, floor(n / 4)}, {2, floor(n / 4) + 60}, {-2, n / 4}};
      double p = p_of(d, 4);
      if (k) check(p < last && p > 0.97 * last, "p as differences are added", p, last);
      last = p;
    }
  }
}

/* For any differences, from few equal ones to many skewed ones. */
static void bounds_hold(void) {
  for (int i = 0; i < 400; i++) {
    size_t count = (size_t)drawn_whole(1, i % 2 ? 12 : 60);
    double shift = random_share() * 1.5, skew = 1 + 2 * random_share();
    for (size_t j = 0; j < count; j++) {
      double x = 2 * random_share() - 1 + shift;
      rows[j] = (ev_score){copysign(pow(fabs(x), skew), x), drawn_whole(1, 2)};
    }
    double p = p_of(rows, count);
    ev_interval bounds = ev_paired_p_bounds(rows, count);
    check(p >= bounds.lo, "p at its lower bound", p, bounds.lo);
    check(p <= bounds.hi, "p at its upper bound", p, bounds.hi);
  }
}

/* One difference that outweighs the others together gives half their p. */
static void one_outweighs(void) {
  static const double large[] = {30, 1e3, 1e4, 1e5};
  for (int i = 0; i < 8; i++) {
    double sum = 0;
    for (int j = 0; j < 70; j++) {
      rows[j] = (ev_score){random_share() - 0.4, 1};
      sum += rows[j].score;
    }
    double few = p_of(rows, 70);
    rows[70] = (ev_score){sum > 0 ? large[i % 4] : -large[i % 4], 1};
    double all = p_of(rows, 71);
    check(fabs(all - few / 2) <= 1e-9, "one that outweighs the others", all, few / 2);
    /* Two such differences that nearly cancel: a quarter of the sums lie beyond both. */
    rows[71] = (ev_score){-0.6 * rows[70].score, 1};
    all = p_of(rows, 72);
    check(fabs(all - (0.5 + few / 4)) <= 1e-9, "two that outweigh the others", all, few);
  }
}

/*
** Many differences without a unit
*/

/* 1 - P(|T| < |t|) by the inversion formula of Gil-Pelaez, with every factor of the characteristic
** function, by the midpoint rule on the real axis. */
static double p_by_direct_sum(size_t count) {
  double t = 0, squares = 0, below = 0;
  for (size_t i = 0; i < count; i++) t += rows[i].score, squares += rows[i].score * rows[i].score;
  double h = 2 * acos(-1) / (fabs(t) + 12 * sqrt(squares));
  for (int n = 0; n < 2000; n++) {
    double y = (n + 0.5) * h, product = 1;
    for (size_t i = 0; i < count && fabs(product) > 1e-18; i++) product *= cos(y * rows[i].score);
    below += product * sin(y * fabs(t)) / (n + 0.5);
  }
  return 1 - 2 * below / acos(-1);
}

/* Uniform, normal, with long tails, a few large, or most small. */
static double drawn_difference(int shape) {
  double u = random_share() + 1e-12, sign = random_share() < 0.5 ? -1 : 1;
  switch (shape) {
  case 0:
    return sign * u;
  case 1:
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * random_share());
  case 2:
    return sign * log(u);
  case 3:
    return sign * (random_share() < 0.02 ? 1 + u : u / 10);
  default:
    return sign * u * u;
  }
}

static void smooth_is_the_direct_sum(void) {
  static const int counts[] = {60, 80, 100, 150, 250, 500, 2000, 10000, 50000};
  double worst = 0;
  for (int i = 0; i < 9; i++) {
    for (int shape = 0; shape < 5; shape++) {
      for (double z = 0; z < 6; z += i < 7 ? 0.7 : 2.9) {
        size_t count = (size_t)counts[i];
        for (size_t j = 0; j < count; j++)
          rows[j] = (ev_score){drawn_difference(shape) + z * 0.6 / sqrt((double)count), 1};
        double got = p_of(rows, count), wanted = p_by_direct_sum(count);
        check(fabs(got - wanted) <= 1e-9, "direct sum", got, wanted);
        worst = fmax(worst, fabs(got - wanted));
      }
    }
  }
  printf("%-30s %18.1e\n", "direct sums", worst);
}

/*
** Interrupts
*/
static bool stop(void *context) {
  (void)context;
  return true;
}

static void an_interrupt_is_heard(void) {
  double p;
  ev_host host = {.interrupted = stop};
  for (int i = 0; i < 38; i++) rows[i] = (ev_score){random_share() - 0.4, 1};
  ev_status status = ev_paired_p(rows, 38, NULL, host, &p);
  check(status == EV_INTERRUPTED, "exact, interrupted", status, EV_INTERRUPTED);
  for (int i = 0; i < MOST_ROWS; i++) rows[i] = (ev_score){random_share() - 0.499, 1};
  status = ev_paired_p(rows, MOST_ROWS, NULL, host, &p);
  check(status == EV_INTERRUPTED, "inverted, interrupted", status, EV_INTERRUPTED);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: sign_flip FILE.csv\n");
    return 2;
  }
  random_seed(20);
  gsl_set_error_handler_off();
  compare_file(argv[1]);
  all_signs();
  one_size_is_mcnemar();
  no_order_matters();
  one_sign();
  nothing_told();
  inversion_joins();
  bounds_hold();
  one_outweighs();
  smooth_is_the_direct_sum();
  an_interrupt_is_heard();
  return check_summary();
}
