/*
** The distribution of one mean of graded scores, tabulated: Chebyshev series of the
** logarithms of its density and of both its tails, in its logit between the lowest and
** the highest score.  Used by ext/stats/mean_diff.c.
*/
#ifndef EV_MEAN_TABLE_H
#define EV_MEAN_TABLE_H

#include "atoms.h"
#include "dirichlet.h"

enum { EV_TABLE_DEGREE = 32, EV_TABLE_PANELS = 512, EV_TABLE_CURVES = 3 };

typedef enum ev_mean_curve { EV_MEAN_DENSITY, EV_MEAN_BELOW, EV_MEAN_ABOVE } ev_mean_curve;

typedef struct ev_mean_panel {
  double from, to;
  double left_out; /* the residual of the worst series */
  double series[EV_TABLE_CURVES][EV_TABLE_DEGREE + 1];
} ev_mean_panel;

typedef struct ev_mean_table {
  ev_dirichlet d;       /* of scores as shares of what lies between the lowest and the highest */
  ev_point least, most; /* those, as shares of the range */
  double width;         /* most - least */
  double narrow;        /* panels of this width are not halved */
  int count;
  ev_mean_panel panels[EV_TABLE_PANELS];
} ev_mean_table;

/* Tabulates the mean of atoms of one size, in rising order, not all equal, imagined ones included,
** between the points beyond which the mass is `cut`, at least 1e-300.  Whatever the
** status, ev_mean_table_free() must follow. */
ev_status ev_mean_table_make(const ev_atoms *atoms, double cut, ev_host host, ev_mean_table **out);
void ev_mean_table_free(ev_mean_table *table);

/* The logarithm of a curve.  Beyond the ends it continues with the slope at the end. */
double ev_mean_curve_at(const ev_mean_table *table, ev_mean_curve curve, double logit);

#endif
