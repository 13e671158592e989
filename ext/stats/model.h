/*
** What every model takes and gives.  Shared by ext/stats, the SQL surface and
** the tests; knows nothing of SQL.
*/
#ifndef EV_MODEL_H
#define EV_MODEL_H

#include <math.h>
#include <stdbool.h>

typedef struct ev_interval {
  double lo, hi;
} ev_interval;

/* The prior of d in the Beta-binomial hierarchy, which says how alike clusters are:
** d ~ Gamma(1,1), or the intraclass correlation 1/(1+d) ~ U(0,1). */
typedef enum ev_prior { EV_PRIOR_GAMMA, EV_PRIOR_ICC } ev_prior;

/* What a caller may choose.  A model reads what concerns it. */
typedef struct ev_options {
  double level;     /* strictly between 0 and 1 */
  double a, b;      /* the Beta prior, both positive */
  double lo, hi;    /* the range of scores, lo < hi */
  double power;     /* wished for, strictly between 0 and 1 */
  double margin;    /* of a difference, at most hi - lo either way */
  double threshold; /* that an accuracy or a mean is to exceed, from lo to hi */
  double quantile;  /* q, strictly between 0 and 1 */
  double attempts;  /* k of pass@k, a whole number from 1 */
  ev_prior prior;
  struct ev_paired_memo *memo; /* of paired.h; NULL for none */
} ev_options;

/* Whether a model has an answer; where it has none, it says why. */
typedef enum ev_status {
  EV_OK,
  EV_NO_MEMORY,
  EV_INTERRUPTED,   /* the host asked to stop */
  EV_TOO_LARGE,     /* rounding of the likelihood would decide */
  EV_NOT_CONVERGED, /* a search or a series gave up, or a number is NaN */
} ev_status;

/* Polled now and then in long work, unless `interrupted` is NULL. */
typedef struct ev_host {
  bool (*interrupted)(void *context);
  void *context;
} ev_host;

static inline bool ev_interrupted(ev_host host) {
  return host.interrupted && host.interrupted(host.context);
}

/* A model from counts, which are whole numbers up to 2^53 held in doubles, in
** the order its SQL name takes them, with data in every part.  The answer is
** set only with EV_OK. */
typedef ev_status ev_model(const double *counts, const ev_options *options, ev_interval *ci);
typedef ev_status ev_probability(const double *counts, const ev_options *options, double *p);

/* The mass outside the interval, on each side. */
static inline double ev_tail(const ev_options *options) {
  return (1 - options->level) / 2;
}

/* A bound that is no number is an answer to nobody. */
static inline ev_status ev_interval_status(ev_interval ci) {
  return isnan(ci.lo) || isnan(ci.hi) ? EV_NOT_CONVERGED : EV_OK;
}

#endif
