/*
** One question that was attempted several times: pass_at_k(c, n, k) and
** pass_hat_k(c, n, k), the unbiased estimates from c right of n attempts.
*/
#include "../stats/pass.h"
#include "function.h"

static void result_estimate(sqlite3_context *context, int argc, sqlite3_value **argv,
                            double (*estimate)(double c, double n, double k)) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_call call = {f->name, NULL};
  double counts[2], k;
  if (evalci_any_null(argc, argv)) return;
  bool ok = evalci_read_k_n(&call, f->kind->names, argv, counts) &&
            evalci_read_count(&call, "k", argv[2], &k);
  if (ok && (k < 1 || k > counts[1]))
    ok = evalci_fail(&call,
                     "k must be from 1 to n, got k = %s and n = %s; "
                     "n attempts cannot give the chance for more than n",
                     evalci_show(argv[2]).text, evalci_show(argv[1]).text);
  if (ok)
    sqlite3_result_double(context, estimate(counts[0], counts[1], k));
  else
    evalci_report(context, &call);
}

static void pass_at_k(sqlite3_context *context, int argc, sqlite3_value **argv) {
  result_estimate(context, argc, argv, ev_pass_at_k_estimate);
}

static void pass_hat_k(sqlite3_context *context, int argc, sqlite3_value **argv) {
  result_estimate(context, argc, argv, ev_pass_hat_k_estimate);
}

const evalci_kind evalci_pass_at_k = {.names = {"c", "n", "k"}, .scalar = pass_at_k};
const evalci_kind evalci_pass_hat_k = {.names = {"c", "n", "k"}, .scalar = pass_hat_k};
