/*
** A score outside its task's range, of any model: nothing is ranked, and the error says which
** scores were seen and what declares their range.
*/
#include <string.h>

#include "board_gate.h"
#include "svg.h"

/* The largest end of a range that the options take. */
static const double MOST_END = 0x1p500;

/* The number of characters of a name that are shown. */
enum { NAME_SHOWN = 60 };

/* Whole numbers at which scales end: 1, 5, 10, 100, 1000 ... */
static double end_of_scale(double x) {
  if (x <= 1) return 1;
  if (x <= 5) return 5;
  double end = 10;
  while (end < x) end *= 10;
  return end;
}

/* The range that scores from lo to hi most likely have: that of correlations is from -1 to 1, of
** ratings from 1 to 5 or 10, of percentages from 0 to 100. */
static void guess_range(double *lo, double *hi) {
  double most = *hi > 0 || *lo >= -1 ? end_of_scale(*hi) : 0;
  if (*lo < -1)
    *lo = -end_of_scale(-*lo);
  else
    *lo = *lo < 0 ? -1 : *lo >= 1 && most <= 10;
  *hi = most;
}

/* Says of which task the scores are, from which to which they go, and what to do. */
static void say_range(evalci_call *call, const board *b, size_t task, const char *of, double least,
                      double most) {
  double lo, hi, guess[] = {least, most};
  board_task_range(b, task, &lo, &hi);
  guess_range(&guess[0], &guess[1]);
  if (!(hi - lo > 0 && hi - lo <= 2 * MOST_END))
    evalci_fail(call, "score_lo must be below score_hi%s, got %.15g and %.15g", of, lo, hi);
  else if (!(least < lo || most > hi) || least < -MOST_END || most > MOST_END)
    evalci_fail(call, "a score%s is not a number, or beyond 3e150; make it NULL", of);
  else if (board_task_declared(b, task))
    evalci_fail(call,
                "scores%s go from %.15g to %.15g, and score_lo and score_hi from %.15g to "
                "%.15g; correct them",
                of, least, most, lo, hi);
  else if (board_others_graded(b, task))
    evalci_fail(call,
                "scores%s go from %.15g to %.15g, and those of other tasks from %.15g to %.15g; lo "
                "and hi in options are for all tasks, so give the rows of this one %.15g as "
                "score_lo and %.15g as score_hi",
                of, least, most, lo, hi, guess[0], guess[1]);
  else
    evalci_fail(call, "scores%s go from %.15g to %.15g; add \"lo\":%.15g,\"hi\":%.15g to options",
                of, least, most, guess[0], guess[1]);
}

bool evalci_check_range(evalci_call *call, const board *b) {
  size_t task;
  double least, most;
  if (!board_out_of_range(b, &task, &least, &most)) return true;
  char *text = evalci_gate_name(board_task_name(b, task));
  char *name = text ? evalci_clean_to(text, strlen(text), NAME_SHOWN) : NULL;
  char *of = name ? sqlite3_mprintf(*name ? " of task '%s'" : "", name) : NULL;
  if (of) say_range(call, b, task, of, least, most);
  sqlite3_free(text);
  sqlite3_free(name);
  sqlite3_free(of);
  return false;
}
