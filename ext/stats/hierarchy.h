/*
** The posterior of the Beta-binomial hierarchy as weighted points, for questions
** beyond theta itself.  Used within ext/stats.
**
**     theta ~ U(0,1),  d ~ Gamma(1,1) or 1/(1+d) ~ U(0,1),
**     theta_t ~ Beta(d theta, d (1-theta)),  k_t ~ Binomial(n_t, theta_t)
*/
#ifndef EV_HIERARCHY_H
#define EV_HIERARCHY_H

#include "clustered.h"

/* One point of the posterior.  The weights of all points sum to 1; the negligible
** are left out. */
typedef struct ev_hierarchy_point {
  double theta, other; /* other = 1 - theta, each to full relative precision */
  double d, weight;
} ev_hierarchy_point;

/* All points of one d: logit theta = first_s + i * step_s, i < count. */
typedef struct ev_hierarchy_line {
  double d, first_s, step_s;
  double mode, sd;     /* of logit theta, the sd by its curvature there */
  size_t first, count; /* its points; none where the line is negligible */
} ev_hierarchy_line;

typedef struct ev_hierarchy {
  ev_hierarchy_point *points; /* owned, line by line */
  size_t count;
  ev_hierarchy_line *lines; /* owned */
  size_t line_count;
  struct ev_joint *joint; /* owned: what a further line is made by */
} ev_hierarchy;

/* The points for these clusters, in any order, under options->prior, close enough to sum
** densities of Beta(d theta, d (1-theta)) at a point, which are narrow functions of theta
** where d is large.  To be freed whatever the status. */
ev_status ev_hierarchy_make(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_hierarchy *h);

/* Adds a line at any d, with no panel, whose weights sum to 1; it is the last. */
ev_status ev_hierarchy_line_at(ev_hierarchy *h, double d);

void ev_hierarchy_free(ev_hierarchy *h);

#endif
