/*
** The likelihood of clusters with theta_t integrated out, by the rising factorials
** (x)_k = x (x+1) .. (x+k-1):
**
**     prod (d theta)_k (d (1-theta))_(n-k) / (d)_n  over the clusters.
**
** It is a product of three functions of one variable each, whose logarithms rising.c tabulates:
** from there on the number of clusters does not matter.
*/
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "hierarchy.h"
#include "lanes.h"

typedef struct cluster_likelihood {
  ev_risings of;
  double d; /* of the line looked at */
} cluster_likelihood;

static double go_to_cluster_line(double d, void *context) {
  cluster_likelihood *c = context;
  c->d = d;
  return (c->of.mixed > 0 ? c->of.mixed * log(d) : 0) - ev_rising_at(&c->of.all, d);
}

/* exp(-|s|) is at least e^-60, by ev_exp(): times d, which is at most e^45, that is negligible. */
EV_WIDE static void ln_clusters_at(const double *s, int count, double *ln, void *context) {
  cluster_likelihood *c = context;
  ev_lanes at = {0}, less = {0}, x, y, sum = {0};
  for (int i = 0; i < EV_LANES; i++) at[i] = s[i < count ? i : count - 1];
  for (int i = 0; i < EV_LANES; i++) less[i] = at[i] > 0 ? -at[i] : at[i];
  ev_lanes e = less;
  ev_exp(&e, 1);
  ev_lanes large = c->d / (1 + e), small = c->d * e / (1 + e), rest = e;
  ev_bits up = (ev_bits)(at > 0);
  ev_choose(&up, &large, &small, &x);
  ev_choose(&up, &small, &large, &y);
  ev_log1p(&rest, 1);
  ev_lanes ln_theta = (less + at) / 2 - rest, ln_other = (less - at) / 2 - rest;
  ev_rising_add(&c->of.right, &x, &c->of.wrong, &y, &sum);
  sum += (c->of.right.clusters + 1) * ln_theta + (c->of.wrong.clusters + 1) * ln_other;
  for (int i = 0; i < count; i++) ln[i] = sum[i];
}

static double rounding_of_clusters(double d, void *context) {
  cluster_likelihood *c = context;
  return DBL_EPSILON * (c->of.mixed * fabs(log(d)) + ev_rising_at(&c->of.all, d));
}

void ev_risings_make(ev_risings *r, const ev_cluster *clusters, size_t count, ev_tally *room) {
  for (size_t i = 0; i < count; i++) room[i] = (ev_tally){clusters[i].k, clusters[i].times};
  ev_rising_make(&r->right, room, count);
  for (size_t i = 0; i < count; i++)
    room[i] = (ev_tally){clusters[i].n - clusters[i].k, clusters[i].times};
  ev_rising_make(&r->wrong, room, count);
  for (size_t i = 0; i < count; i++) room[i] = (ev_tally){clusters[i].n, clusters[i].times};
  ev_rising_make(&r->all, room, count);
  r->mixed = r->right.clusters + r->wrong.clusters - r->all.clusters;
}

ev_status ev_hierarchy_make(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_hierarchy_use use, ev_hierarchy *h) {
  cluster_likelihood *c = malloc(sizeof *c);
  ev_tally *counts = malloc(count * sizeof *counts);
  ev_status status = c && counts ? EV_OK : EV_NO_MEMORY;
  *h = (ev_hierarchy){0};
  if (status == EV_OK) {
    ev_risings_make(&c->of, clusters, count, counts);
    ev_line_model model = {
        .go_to_line = go_to_cluster_line,
        .ln_at = ln_clusters_at,
        .rounding = rounding_of_clusters,
        .context = c,
        .prior = options->prior,
        .host = host,
        .poll_lines = 32,
        .answers = c->of.all.answers,
        .guess = log((c->of.right.answers + 1) / (c->of.wrong.answers + 1)),
        .panel_sd = 5.7,
        /* 25 leaves less than 1e-10 of the tail, and 8 more keep the density of theta smooth where
        ** lines end; 42 leaves 1e-12 of a tail of 1e-6. */
        .step_sd = use == EV_FOR_THETA ? 0.4 : 0.5,
        .step_most = 0.66,
        .betas = use == EV_FOR_BETAS,
        .cut_off = use == EV_FOR_THETA ? 25 - log(ev_tail(options)) : 42,
        .margin = use == EV_FOR_THETA ? 8 : 0};
    status = ev_hierarchy_of_model(&model, h);
  }
  free(counts);
  h->likelihood = c;
  return status;
}
