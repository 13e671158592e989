/*
** What the answers that are not known could make of a model's accuracy.
*/
#include "inside.h"

/* Over the questions of some tasks. */
typedef struct missing_sum {
  double total, known, missing;
} missing_sum;

static missing_sum sum_missing(const board *b, size_t model, size_t from, size_t to) {
  missing_sum sum = {0, 0, 0};
  for (size_t t = from; t < to; t++) {
    board_standing s = board_task_standing(b, model, t);
    if (s.n > 0) sum.total += s.accuracy * s.n;
    sum.known += s.n;
    sum.missing += b->settings.errors_wrong ? 0 : s.errored;
  }
  return sum;
}

/* All wrong, and all right; as shares, of right and wrong and of graded answers alike. */
void board_extremes(const board *b, size_t model, double *lowest, double *highest) {
  size_t each = b->settings.by_task ? 1 : b->tasks.count, counted = 0;
  double low = 0, high = 0;
  for (size_t t = 0; t < b->tasks.count; t += each) {
    missing_sum sum = sum_missing(b, model, t, t + each);
    double all = sum.known + sum.missing;
    if (all == 0) continue;
    low += sum.total / all;
    high += (sum.total + sum.missing) / all;
    counted++;
  }
  *lowest = counted ? low / (double)counted : NAN;
  *highest = counted ? high / (double)counted : NAN;
}
