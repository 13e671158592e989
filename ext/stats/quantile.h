/*
** A quantile of any distribution, by order statistics.  Used by the SQL surface, the board
** and the tests; knows nothing of SQL.
*/
#ifndef EV_QUANTILE_H
#define EV_QUANTILE_H

#include "mean.h"

/* Of options->quantile, q.  A bound that the values cannot give is infinite.  Values come in
** any order, merged or not. */
ev_score_model ev_quantile;

/* Likewise of values in rising order; `units` of them are independent, which is all of them
** or, where questions were asked again, the number of questions. */
ev_status ev_quantile_of_sorted(const ev_score *values, size_t count, double units,
                                const ev_options *options, ev_interval *ci);

/* Sorts values as that wants them. */
void ev_sort_values(ev_score *values, size_t count);

/* The quantile of the values themselves, interpolated linearly between neighbours: 0 is the
** least value, 1 the greatest (Hyndman and Fan's type 7, as percentile() and numpy have it). */
double ev_sample_quantile(const ev_score *sorted, size_t count, double q);

#endif
