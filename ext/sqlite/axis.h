/*
** Private to the pictures: axis.c chooses the axis of forest.c, and writes the
** numbers that stand on it and beside it.
*/
#ifndef EVALCI_AXIS_H
#define EVALCI_AXIS_H

#include "svg.h"

enum { EVALCI_MOST_TICKS = 16 };

/* An axis: its ends, its reference line, its ticks. */
typedef struct evalci_axis {
  double from, to, line; /* line is NAN where there is none */
  bool logarithmic, percent;
  int ticks;
  double tick[EVALCI_MOST_TICKS];
  double step; /* distance between ticks; 0 on a logarithmic axis */
} evalci_axis;

/* Numbers beyond this size (on a logarithmic axis, also below its inverse) are drawn as arrows. */
static const double EVALCI_BEYOND = 1e9;

/* The axis that the options ask for; by default one that holds every number of the marks. */
evalci_axis evalci_axis_of(const evalci_drawing *options, const evalci_mark *marks, int count);

/* The position of a value along the axis, from 0 to 1; values beyond its ends are put at them. */
double evalci_along(const evalci_axis *axis, double value);

/* Writes a value with `digits` after the point and the axis's unit. */
void evalci_append_value(sqlite3_str *out, const evalci_axis *axis, double x, int digits);

/* How many digits after the point are needed to show a difference of this size. */
int evalci_digits_for(const evalci_axis *axis, double difference);

/* How many digits a tick label needs. */
int evalci_tick_digits(const evalci_axis *axis, double tick);

#endif
