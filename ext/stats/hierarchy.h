/*
** The posterior of the Beta-binomial hierarchy as weighted points, for questions
** beyond theta itself.  Used within ext/stats.
**
**     theta ~ U(0,1),  d ~ Gamma(1,1) or 1/(1+d) ~ U(0,1),
**     theta_t ~ Beta(d theta, d (1-theta)),  k_t ~ Binomial(n_t, theta_t)
*/
#ifndef EV_HIERARCHY_H
#define EV_HIERARCHY_H

#include "beta.h"
#include "clustered.h"
#include "marginal.h"
#include "rising.h"

/* The rising factorials of clusters' likelihood: those of k, of n - k and of n. */
typedef struct ev_risings {
  ev_rising right, wrong, all;
  double mixed; /* clusters with both right and wrong answers */
} ev_risings;

/* `room` is for `count` tallies. */
void ev_risings_make(ev_risings *r, const ev_cluster *clusters, size_t count, ev_tally *room);

/* The data: a model supplies the log likelihood of (theta, d), line by line of constant d.  The
** layer adds the prior of d.  At any d the likelihood must be a smooth function of logit theta with
** one mode. */
typedef struct ev_line_model {
  /* Goes to the line at d and returns the part of the log likelihood that depends on d alone (0 if
  ** there is none).  Called before the points of a line are evaluated. */
  double (*go_to_line)(double d, void *context);
  /* The rest of the log likelihood, plus ln(theta (1-theta)) for theta's uniform prior, up to one
  ** constant for all lines, at up to EV_LANES points s = logit theta of the line in ascending or
  ** descending order.  NaN if it failed. */
  void (*ln_at)(const double *s, int count, double *ln, void *context);
  /* The largest effect of rounding on the log likelihood at d; NULL if it never matters. */
  double (*rounding)(double d, void *context);
  void *context;
  ev_prior prior;
  ev_host host;
  int poll_lines; /* the host is polled once in so many lines; it may take 3 us */
  double answers; /* the number of observations: lines at d above 100 times that are alike */
  double guess;   /* logit theta from which the first mode is sought */
  /* The width of a panel of 16 nodes in sd of ln d: for a normal, 5.7 leaves an error of 1e-14, 8
  ** about 1e-10. */
  double panel_sd;
  /* The step along a line in sd of logit theta: for a normal, 0.5 leaves an error of 1e-13 of a
  ** sum, 0.7 of 1e-8. */
  double step_sd;
  double step_most;  /* the sd that a step is taken for at most: 0.66, or less for interpolation */
  bool betas;        /* steps also resolve the density of Beta(d theta, d (1-theta)) at a point, */
  double betas_drop; /* up to e^-betas_drop of the total; if 0, as finely as lines */
  double cut_off;    /* lines below e^-cut_off of the total, and those beyond, are left out; */
  double margin;     /* and so are points of a line below e^-(cut_off + margin) of the total */
} ev_line_model;

/* One point of the posterior.  The weights of all points sum to 1; negligible points are left
** out. */
typedef struct ev_hierarchy_point {
  double theta, other; /* other = 1 - theta, each to full relative precision */
  double d, weight;
} ev_hierarchy_point;

/* All points of one d: logit theta = first_s + i * step_s, i < count. */
typedef struct ev_hierarchy_line {
  double d, first_s, step_s;
  double ln_measure;   /* ln of prior of d x quadrature weight; theta (1-theta) completes it */
  size_t first, count; /* its points: negligible lines are left out */
  int panel, node;     /* of the Gauss-Legendre rule: it is that node of EV_NODES */
} ev_hierarchy_line;

typedef struct ev_hierarchy {
  ev_hierarchy_point *points; /* owned, line by line */
  size_t count;
  ev_hierarchy_line *lines; /* owned */
  size_t line_count;
  struct ev_joint *joint; /* owned: the state of the search for lines */
  void *likelihood;       /* owned: of clusters, where the model is ours */
  ev_host host;
} ev_hierarchy;

/* A mode: its place, about its sd, at most 2, and the value there. */
typedef struct ev_summit {
  double at, sd, ln;
} ev_summit;

/* The logarithm of a density at up to EV_LANES points. */
typedef void ev_ln_function(const double *x, int count, double *ln, void *context);

/* Climbs from a point, with a first step, to the mode. */
ev_status ev_climb(ev_ln_function *f, void *context, double from, double step, ev_summit *top);

/* The points of a model's posterior: weight = exp(ln_measure of the line + ln(theta (1-theta)) +
** log likelihood), made to sum to 1.  To be freed whatever the status; the model must outlive it.
*/
ev_status ev_hierarchy_of_model(const ev_line_model *model, ev_hierarchy *h);

/* The use of the points: the interval of theta at options->level; or sums of densities of Beta(d
** theta, d (1-theta)) at a point, which are narrow functions of theta where d is large. */
typedef enum ev_hierarchy_use { EV_FOR_THETA, EV_FOR_BETAS } ev_hierarchy_use;

/* The points for these clusters, in any order, under options->prior.  To be freed whatever the
** status. */
ev_status ev_hierarchy_make(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_hierarchy_use use, ev_hierarchy *h);

/* The posterior of logit theta, of which shares down to `tail` matter, and the equal-tailed
** interval of theta. */
ev_status ev_hierarchy_theta(const ev_hierarchy *h, double tail, ev_marginal *m);
ev_status ev_hierarchy_interval(const ev_hierarchy *h, const ev_options *options, ev_interval *ci);

void ev_hierarchy_free(ev_hierarchy *h);

#endif
