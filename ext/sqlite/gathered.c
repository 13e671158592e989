/*
** Aggregates that gather rows in tables: one step, one inverse, one value and one final
** serve them all.  A function's `rows` say how rows are kept, and its kind how the result is
** computed.
*/
#include "function.h"

/* Every row of a call has the same number of arguments, so missing options are noticed once. */
static bool same_options(evalci_call *call, const evalci_function *f, evalci_group *g, int argc,
                         sqlite3_value **argv) {
  bool first = g->rows == 0;
  if (!first && argc == g->columns) return true;
  g->columns = evalci_arguments_of(f);
  if (!evalci_same_options(call, f->options, argc - g->columns, argv + g->columns, first,
                           &g->options))
    return false;
  if (first) g->keys.width = f->rows->width;
  return true;
}

void evalci_gathered_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_group *g = sqlite3_aggregate_context(context, sizeof *g);
  evalci_call call = {f->name, NULL};
  if (g && same_options(&call, f, g, argc, argv) && f->rows->add(&call, g, argv, 1)) {
    g->rows++;
    return;
  }
  if (g) g->failed = true;
  evalci_report(context, &call);
}

/* The row leaving the frame was checked when it came (contract 6). */
void evalci_gathered_inverse(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  const evalci_function *f = sqlite3_user_data(context);
  evalci_group *g = sqlite3_aggregate_context(context, sizeof *g);
  evalci_call call = {f->name, NULL};
  if (g && f->rows->add(&call, g, argv, -1))
    g->rows--;
  else
    evalci_report(context, &call);
}

/* NULL if there were no rows, or one was refused. */
void evalci_gathered_value(sqlite3_context *context) {
  const evalci_function *f = sqlite3_user_data(context);
  const evalci_group *g = sqlite3_aggregate_context(context, 0);
  if (g && !g->failed) f->kind->answer(context, g);
}

void evalci_gathered_final(sqlite3_context *context) {
  evalci_group *g = sqlite3_aggregate_context(context, 0);
  evalci_gathered_value(context);
  if (!g) return;
  evalci_free_keys(&g->keys);
  for (int i = 0; i < 2; i++) evalci_free_scores(&g->scores[i]);
  sqlite3_free(g->moments);
}
