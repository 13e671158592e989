/*
** Reports a model's failure as an error (contract 9): never NULL, never a guess.
*/
#include <math.h>

#include "function.h"

bool evalci_check_status(sqlite3_context *context, const char *name, ev_status status) {
  evalci_call call = {name, NULL};
  switch (status) {
  case EV_OK:
    return true;
  case EV_NO_MEMORY:
    break; /* no message: a call without one reports that memory is short */
  case EV_INTERRUPTED:
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return false;
  case EV_TOO_LARGE:
    evalci_fail(&call, "there are too many questions or attempts to compute with; "
                       "pass fewer, or scale k and n down");
    break;
  case EV_NOT_CONVERGED:
    evalci_fail(&call, "the computation did not converge on these data; please report them");
    break;
  }
  evalci_report(context, &call);
  return false;
}

void evalci_result_probability(sqlite3_context *context, const char *name, ev_status status,
                               double p) {
  if (status == EV_OK && isnan(p)) status = EV_NOT_CONVERGED;
  if (evalci_check_status(context, name, status)) sqlite3_result_double(context, p);
}

void evalci_result(sqlite3_context *context, ev_status status, ev_interval out) {
  const evalci_function *f = sqlite3_user_data(context);
  if (f->p.any)
    evalci_result_probability(context, f->name, status, out.lo);
  else
    evalci_result_interval(context, f->name, status, out);
}
