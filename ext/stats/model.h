/* The arguments and results of every model.  Shared by ext/stats, the SQL surface and the tests;
** knows nothing of SQL. */
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

/* The distance of two categories of ratings: the same for every pair; the steps between them, or
** their square; by the ratings between them; or the square of the difference of their values. */
typedef enum ev_distance {
  EV_NOMINAL,
  EV_LINEAR,
  EV_QUADRATIC,
  EV_ORDINAL,
  EV_INTERVAL
} ev_distance;

/* The options of a call.  A model reads those that it needs. */
typedef struct ev_options {
  double level;     /* strictly between 0 and 1 */
  double a, b;      /* the Beta prior, both positive; a is also each weight of a Dirichlet prior */
  double lo, hi;    /* the range of scores, lo < hi */
  double power;     /* the wanted one, strictly between 0 and 1 */
  double margin;    /* of a difference, at most hi - lo either way */
  double threshold; /* that an accuracy or a mean is to exceed, from lo to hi */
  double quantile;  /* q, strictly between 0 and 1 */
  double attempts;  /* k of pass@k, a whole number from 1 */
  ev_prior prior;
  ev_distance distance; /* of ratings */
} ev_options;

/* Whether a model has an answer, or else the reason. */
typedef enum ev_status {
  EV_OK,
  EV_NO_MEMORY,
  EV_INTERRUPTED,   /* the host asked to stop */
  EV_TOO_LARGE,     /* rounding of the likelihood would decide */
  EV_NOT_CONVERGED, /* a search or a series gave up, or a number is NaN */
} ev_status;

/* Resources of the caller that a model may use; {0} is none. */
typedef struct ev_host {
  bool (*interrupted)(void *context); /* polled in long work; NULL: never */
  void *context;
  struct ev_paired_memo *memo; /* of paired.h, kept between calls; NULL: none */
} ev_host;

static inline bool ev_interrupted(ev_host host) {
  return host.interrupted && host.interrupted(host.context);
}

/* Every model takes counts or data, the options and the host, and sets its answer only with
** EV_OK.  These take counts: whole numbers up to 2^53 held in doubles, in the order of the SQL
** function's arguments, with at least one observation in every sample. */
typedef ev_status ev_model(const double *counts, const ev_options *options, ev_host host,
                           ev_interval *ci);
typedef ev_status ev_probability(const double *counts, const ev_options *options, ev_host host,
                                 double *p);

/* The mass outside the interval, on each side. */
static inline double ev_tail(const ev_options *options) {
  return (1 - options->level) / 2;
}

/* NaN means that the computation failed. */
static inline ev_status ev_interval_status(ev_interval ci) {
  return isnan(ci.lo) || isnan(ci.hi) ? EV_NOT_CONVERGED : EV_OK;
}

#endif
