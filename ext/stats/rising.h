/*
** Sums of logarithms of rising factorials (x)_k = x (x+1) .. (x+k-1) over many counts
** k: what the likelihood of clusters is made of.  Used within ext/stats.
*/
#ifndef EV_RISING_H
#define EV_RISING_H

#include <stddef.h>

typedef struct ev_tally {
  double count, times; /* a count of answers, and how many clusters have it */
} ev_tally;

/* Counts, once settled in rising order, each once, and none below 2. */
typedef struct ev_rising {
  ev_tally *items;
  size_t size;
  double clusters; /* with a count of at least one */
} ev_rising;

/* Sorts and merges the items, drops counts that leave no product behind, and thins the
** rest where there are very many. */
void ev_rising_settle(ev_rising *t);

/* L(x), the sum over counts of ln[(x+1)(x+2)..(x+k-1) / (k-1)!]: the rising factorial
** without its first factor, and relative to its value at x = 0. */
double ev_rising_ln(const ev_rising *t, double x);

/* L as Chebyshev series in v = ln(1+x), on equal cells of [from, from + cells * width]. */
enum { EV_RISING_CELLS = 64, EV_RISING_TERMS = 40, EV_RISING_COEFFICIENTS = 1024 };

typedef struct ev_rising_table {
  double from, width; /* of all cells, and of one */
  int cells, terms;
  double c[EV_RISING_COEFFICIENTS]; /* each cell's, one after the other */
} ev_rising_table;

/* Lays a table out; its cells are then to be filled, which is the work. */
void ev_rising_lay_out(ev_rising_table *table, const ev_rising *t, double from, double to);
void ev_rising_fill(ev_rising_table *table, const ev_rising *t, int cell);

/* L(x) from a table, and the sum of two: side by side they take the time of one, since
** each only waits for itself. */
double ev_rising_read(const ev_rising_table *t, double x);
double ev_rising_read_both(const ev_rising_table *t, double x, const ev_rising_table *s, double y);

#endif
