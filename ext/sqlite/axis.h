/*
** Private to the pictures: axis.c chooses the axis of forest.c, and writes the
** numbers that stand on it and beside it.
*/
#ifndef EVALCI_AXIS_H
#define EVALCI_AXIS_H

#include "svg.h"

enum { EVALCI_MOST_TICKS = 16 };

/* An axis: its ends, the line across it that readers compare with, its ticks. */
typedef struct evalci_axis {
  double from, to, line; /* line is NAN where there is none */
  bool logarithmic, percent;
  int ticks;
  double tick[EVALCI_MOST_TICKS];
  double step; /* from one tick to the next; of a logarithmic axis 0 */
} evalci_axis;

/* What is farther from 0, or of a logarithmic axis nearer to it, than any sense: it is
** drawn as an arrow. */
static const double EVALCI_BEYOND = 1e9;

/* The axis that the options ask for, or that holds all numbers of the marks. */
evalci_axis evalci_axis_of(const evalci_drawing *options, const evalci_mark *marks, int count);

/* How far along the axis a value lies, from 0 to 1; beyond its ends at them. */
double evalci_along(const evalci_axis *axis, double value);

/* A value with so many digits after the point, and the axis's unit. */
void evalci_append_value(sqlite3_str *out, const evalci_axis *axis, double x, int digits);

/* How many digits after the point tell two numbers from each other that differ by so
** much. */
int evalci_digits_for(const evalci_axis *axis, double difference);

/* How many a tick has. */
int evalci_tick_digits(const evalci_axis *axis, double tick);

#endif
