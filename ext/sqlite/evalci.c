/*
** The extension's entry point, and the one table that names every function.
*/
#include "../evalci.h"

#include <gsl/gsl_errno.h>

#include "surface.h"

#ifdef SQLITE_CORE
#define EXTENSION_INIT(api) (void)(api)
#else
SQLITE_EXTENSION_INIT1
#define EXTENSION_INIT(api) SQLITE_EXTENSION_INIT2(api)
#endif

/* SQLite 3.45; older hosts mask flags they do not know. */
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

/* Window functions came with 3.25. */
enum { OLDEST_HOST = 3025000 };

static void version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_text(context, EVALCI_VERSION, -1, SQLITE_STATIC);
}

#define TAKES(i) (1u << (i))
#define JSON SQLITE_RESULT_SUBTYPE

static const evalci_function functions[] = {
    /* name, arities, flags, scalar (or NULL: aggregate and window), model */
    {"bayes_ci", TAKES(1) | TAKES(2) | TAKES(4), JSON, NULL, ev_bayes},
    {"hdi_ci", TAKES(1) | TAKES(2) | TAKES(4), JSON, NULL, ev_hdi},
    {"wilson_ci", TAKES(1) | TAKES(2), JSON, NULL, ev_wilson},
    {"cp_ci", TAKES(1) | TAKES(2), JSON, NULL, ev_cp},
    {"clt_ci", TAKES(1) | TAKES(2), JSON, NULL, ev_clt},

    {"bayes_ci_counts", TAKES(2) | TAKES(3) | TAKES(5), JSON, evalci_proportion_counts, ev_bayes},
    {"hdi_ci_counts", TAKES(2) | TAKES(3) | TAKES(5), JSON, evalci_proportion_counts, ev_hdi},
    {"wilson_ci_counts", TAKES(2) | TAKES(3), JSON, evalci_proportion_counts, ev_wilson},
    {"cp_ci_counts", TAKES(2) | TAKES(3), JSON, evalci_proportion_counts, ev_cp},
    {"clt_ci_counts", TAKES(2) | TAKES(3), JSON, evalci_proportion_counts, ev_clt},

    {"ci_lo", TAKES(1), 0, evalci_lo, NULL},
    {"ci_hi", TAKES(1), 0, evalci_hi, NULL},
    {"ci_width", TAKES(1), 0, evalci_width, NULL},
    {"ci_text", TAKES(1) | TAKES(2), 0, evalci_text, NULL},
    {"ci_bar", TAKES(1) | TAKES(2) | TAKES(3), 0, evalci_bar, NULL},
    {"evalci_version", TAKES(0), 0, version, NULL},
};

static int register_function(sqlite3 *db, const evalci_function *f, int arity) {
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS | f->flags;
  void *data = (void *)f;
  if (f->scalar)
    return sqlite3_create_function_v2(db, f->name, arity, flags, data, f->scalar, NULL, NULL, NULL);
  return sqlite3_create_window_function(db, f->name, arity, flags, data, evalci_proportion_step,
                                        evalci_proportion_value, evalci_proportion_value,
                                        evalci_proportion_inverse, NULL);
}

int sqlite3_evalci_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  EXTENSION_INIT(api);
  if (sqlite3_libversion_number() < OLDEST_HOST) {
    if (error)
      *error =
          sqlite3_mprintf("evalci needs SQLite 3.25 or newer, this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  /* GSL's own handler calls abort(), which would take the host down.  The copy
  ** linked in here is private, so this reaches nobody else's GSL. */
  gsl_set_error_handler_off();
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    for (int arity = 0; functions[i].arities >> arity && rc == SQLITE_OK; arity++)
      if (functions[i].arities & TAKES(arity)) rc = register_function(db, &functions[i], arity);
  return rc == SQLITE_OK ? evalci_register_ci_methods(db) : rc;
}
