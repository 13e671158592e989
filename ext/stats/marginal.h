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

enum { EV_NODES = 16, EV_DEGREE = 48, EV_PANELS = 100 };

typedef double ev_ln_density(double z, void *context);

typedef struct ev_search {
  ev_ln_density *ln_density;
  void *context;
  double start, width; /* where to begin, and about how far to go either way */
  double least, most;  /* the ends of the domain, where the density may be cut off; or
                       ** -HUGE_VAL and HUGE_VAL, where it has none */
  double corner;       /* a point where it need not be smooth, kept between panels;
                       ** HUGE_VAL for none */
  double cut;          /* how far below its peak, in logarithms, it is negligible */
  double tolerance;    /* of the logarithm, that is, relative of the density */
  double tail;         /* the least share of the mass that is asked about */
  int budget;          /* how often to evaluate it, about; then the panels are taken as they are */
} ev_search;

typedef struct ev_panel {
  double from, to;
  double ln_most, ln_least; /* the largest and the smallest sample */
  double rest;              /* what the series leaves out */
  double mass;              /* relative to exp(ln_peak) */
  int degree;
  double series[EV_DEGREE + 1]; /* Chebyshev coefficients of the logarithm */
} ev_panel;

typedef struct ev_marginal {
  int count, evaluated;
  bool broken; /* the density was no number somewhere, or nothing anywhere */
  double ln_peak;
  double mass;                  /* of all panels, relative to exp(ln_peak) */
  double cosine[2 * EV_DEGREE]; /* of pi i / EV_DEGREE */
  ev_panel panels[EV_PANELS];
} ev_marginal;

/* What is asked of a broken one is NAN. */
void ev_marginal_find(ev_marginal *m, const ev_search *search);

/* ln of the integral of the density over all of its domain. */
double ev_marginal_ln_total(const ev_marginal *m);

/* The share of the mass above z, which lies between panels: a corner. */
double ev_marginal_above(const ev_marginal *m, double z);

/* The points that leave the share `tail` below, or above. */
double ev_marginal_lower(const ev_marginal *m, double tail);
double ev_marginal_upper(const ev_marginal *m, double tail);

/* ln of a sum over whole numbers from `least` to `most` of a function with one
** peak, given by its logarithm.  It is run both ways from *peak, which need only
** be near, until e^-cut of the largest term; *peak is left at the true one. */
typedef double ev_ln_term(int j, void *context);
double ev_ln_sum(ev_ln_term *ln_term, void *context, int least, int most, int *peak, double cut);

/* ln of the integral over the whole axis of a density that falls off at least
** exponentially, by the plain trapezoid rule, which converges exponentially
** there. */
double ev_ln_integral(ev_ln_density *ln_density, void *context, double peak, double step,
                      double cut);

/* Node i of 0..EV_NODES-1 in rising order on (-1,1), and its weight. */
double ev_node(int i);
double ev_weight(int i);

#endif
