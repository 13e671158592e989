/*
** What every model takes and gives.  Shared by ext/stats, the SQL surface and
** the tests; knows nothing of SQL.
*/
#ifndef EV_MODEL_H
#define EV_MODEL_H

typedef struct ev_interval {
  double lo, hi;
} ev_interval;

/* What a caller may choose.  A model reads what concerns it. */
typedef struct ev_options {
  double level; /* strictly between 0 and 1 */
  double a, b;  /* the Beta prior, both positive */
} ev_options;

/* A model from counts, which are whole numbers up to 2^53 held in doubles, in
** the order its SQL name takes them, with data in every part. */
typedef ev_interval ev_model(const double *counts, const ev_options *options);
typedef double ev_probability(const double *counts);

/* The mass outside the interval, on each side. */
static inline double ev_tail(const ev_options *options) {
  return (1 - options->level) / 2;
}

#endif
