/*
** The distribution of one quantity from its density alone: what the models
** whose posterior has no closed form share.  Used within ext/stats.
**
** The density is given as a function that returns its logarithm, up to a
** constant; it has one mode and is smooth, but for one point that the caller
** may name.  First the places are found where it has become negligible, then the
** logarithm between them is made a Chebyshev series, whose degree is doubled, or
** whose panel halved, until it has converged.  A logarithm is nearly a parabola
** where a density is nearly normal, so a panel can span all of it, and an
** expensive density is evaluated a few dozen times.  Integrals and quantiles then
** come from the series.  Nothing is allocated.
*/
#ifndef EV_MARGINAL_H
#define EV_MARGINAL_H

#include <stdbool.h>

#include "model.h"

enum { EV_NODES = 16, EV_DEGREE = 48, EV_PANELS = 100 };

/* NaN where it could not be computed. */
typedef double ev_ln_density(double z, void *context);

/* Fields left at zero are unused: no bounds, no corner. */
typedef struct ev_search {
  ev_ln_density *ln_density;
  void *context;
  double start, width; /* where to begin, and about how far to go either way */
  bool bounded;        /* the domain ends at `least` and `most`, where the density may be */
  double least, most;  /* cut off; either may be infinite */
  bool has_corner;     /* the density need not be smooth at `corner`, which is kept between */
  double corner;       /* panels */
  bool graded;         /* the density is singular at the corner: points crowd toward it */
  double ln_drop;      /* how far below its peak, in logarithms, it is negligible: 20 - ln tail
                          leaves 2e-9 of the tail beyond an end, 25 - ln tail 1e-11 */
  double tolerance;    /* of the logarithm, that is, relative of the density */
  double tail;         /* the smallest tail that will be requested */
  int budget;          /* about the most evaluations: at least twice what any reference needs */
  double acceptable; /* the acceptable residual of a panel when room or budget ran out: 1e-8, or the
                        tolerance if that is larger */
} ev_search;

/* The place of a panel, and the distribution of its points. */
typedef struct ev_panel_shape {
  double from, to;
  int graded; /* they are denser toward `from` (-1), or `to` (1), or neither (0) */
} ev_panel_shape;

typedef struct ev_panel {
  ev_panel_shape shape;
  double ln_most, ln_least; /* the largest and the smallest sample */
  double residual;          /* of the series: the size of its last two coefficients */
  double mass;              /* relative to exp(ln_peak) */
  bool gave_up;             /* there was no room to halve it until it converged */
  int degree;
  double series[EV_DEGREE + 1]; /* Chebyshev coefficients of the logarithm */
} ev_panel;

typedef struct ev_marginal {
  int count, evaluated;
  bool gave_up; /* NaN somewhere, no end found, or a panel not converged that matters */
  double ln_peak;
  double mass; /* of all panels, relative to exp(ln_peak) */
  ev_panel panels[EV_PANELS];
} ev_marginal;

/* EV_NOT_CONVERGED if the density was NaN somewhere, or zero everywhere; if an end, where the
** density is negligible, was not found; or if room or budget ran out while a panel that matters
** still had more than the acceptable error.  The functions below require EV_OK. */
ev_status ev_marginal_find(ev_marginal *m, const ev_search *search);

/* ln of the integral of the density over all of its domain. */
double ev_marginal_ln_total(const ev_marginal *m);

/* The share of the mass above z, or below it. */
double ev_marginal_beyond(const ev_marginal *m, double z, bool above);

/* The points that leave the share `tail` below, and above. */
ev_status ev_marginal_interval(const ev_marginal *m, double tail, ev_interval *z);

/* ln of the integral over the whole axis of a density that falls off at least exponentially, by the
** plain trapezoid rule, which converges exponentially.  *ln_truncated is the last term if 2,000
** steps in either direction were not enough, or else -HUGE_VAL. */
double ev_ln_integral(ev_ln_density *ln_density, void *context, double peak, double step,
                      double ln_drop, double *ln_truncated);

/* Node i of 0..EV_NODES-1 in rising order on (-1,1), and its weight. */
double ev_node(int i);
double ev_weight(int i);

/* Legendre's polynomials at x: p[k] that of degree k, from 0 to EV_NODES. */
void ev_legendre(double x, double *p);

#endif
