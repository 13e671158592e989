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

/* What a panel is an interval of: ln d, d, or 1/(1+d). */
typedef enum ev_panel_axis { EV_PANEL_OF_R, EV_PANEL_OF_D, EV_PANEL_OF_ICC } ev_panel_axis;

/* EV_NODES lines, with the weights of Gauss and Legendre. */
typedef struct ev_hierarchy_panel {
  ev_panel_axis axis;
  double near, far; /* its ends, as seen from the mode */
  size_t first;     /* of its lines */
} ev_hierarchy_panel;

typedef struct ev_hierarchy {
  ev_hierarchy_point *points; /* owned, line by line */
  size_t count;
  ev_hierarchy_line *lines; /* owned, panel by panel */
  size_t line_count;
  ev_hierarchy_panel *panels; /* owned */
  size_t panel_count;
  struct ev_joint *joint; /* owned: what a panel is split by */
} ev_hierarchy;

/* A line of less sd is nearly normal in theta. */
#define EV_NARROW_LINE 0.2

/* Of a smaller tail a bound wants more digits than 1e-9 of a sum. */
#define EV_SMALL_TAIL 1e-3

/* How close the points of a line are. */
typedef enum ev_mesh {
  EV_MESH_SUM,   /* for sums of what is smooth in theta */
  EV_MESH_CDF,   /* twice as close: for integrals along a part of a line */
  EV_MESH_MEANS, /* for sums of functions of the mean of the clusters' theta_t */
  EV_MESH_BETAS  /* close enough for densities of Beta(d theta, d (1-theta)) at a point,
                 ** which are narrow functions of theta where d is large */
} ev_mesh;

/* The points for these clusters, in any order, under options->prior.  To be freed
** whatever the status. */
ev_status ev_hierarchy_mesh(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_mesh mesh, ev_hierarchy *h);

/* EV_MESH_SUM. */
ev_status ev_hierarchy_make(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_hierarchy *h);

/* Puts two panels in the place of one, for what changes too fast along it.  Its lines
** and points stay, without a panel, and new ones come last: from then on points are
** to be reached by panels. */
ev_status ev_hierarchy_split(ev_hierarchy *h, size_t panel);

/* Adds a line at any d, with no panel, whose weights sum to 1; it is the last. */
ev_status ev_hierarchy_line_at(ev_hierarchy *h, double d);

void ev_hierarchy_free(ev_hierarchy *h);

#endif
