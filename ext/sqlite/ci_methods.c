/*
** ci_methods(k, n [, level]): one row per method, to compare them.  n = 0 leaves lo and hi
** NULL.
*/
#include "../stats/proportion.h"
#include "table.h"

static const struct {
  const char *name;
  ev_model *model;
} ci_methods[] = {
    {"bayes", ev_bayes},
    {"jeffreys", ev_jeffreys},
    {"hdi", ev_hdi},
    {"wilson", ev_wilson},
    {"cp", ev_cp},
    {"midp", ev_midp},
    {"agresti_coull", ev_agresti_coull},
    {"clt", ev_clt},
};

typedef struct ci_methods_data {
  double counts[2];
  ev_options options;
} ci_methods_data;

static bool read_ci_methods(evalci_call *call, int argc, sqlite3_value **argv, void *out) {
  static const char *const names[] = {"k", "n"};
  ci_methods_data *data = out;
  return evalci_read_k_n(call, names, argv, data->counts) &&
         evalci_read_options(call, EVALCI_LEVEL, argc - 2, argv + 2, &data->options);
}

static ev_status ci_methods_row(const void *given, int row, evalci_cell *cells) {
  const ci_methods_data *data = given;
  cells[0].text = ci_methods[row].name;
  if (!data || data->counts[1] == 0) return EV_OK;
  ev_interval ci;
  ev_status status = ci_methods[row].model(data->counts, &data->options, (ev_host){0}, &ci);
  if (status != EV_OK) return status;
  cells[1].number = ci.lo;
  cells[2].number = ci.hi;
  return EV_OK;
}

const evalci_table evalci_ci_methods = {
    .name = "ci_methods",
    .schema = "CREATE TABLE x(method TEXT, lo REAL, hi REAL, given_k HIDDEN, given_n HIDDEN, "
              "given_level HIDDEN, PRIMARY KEY(method, given_k, given_n, given_level)) "
              "WITHOUT ROWID",
    .columns = 3,
    .arguments = 3,
    .required = 2,
    .rows = sizeof ci_methods / sizeof *ci_methods,
    .usage = "needs k and n, as in ci_methods(18, 20)",
    .size = sizeof(ci_methods_data),
    .read = read_ci_methods,
    .row = ci_methods_row,
};
