/*
** The extension's entry point, and the table of the functions that read an
** interval.  Methods are in tally.c's table.
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

/* Window functions came with 3.25. */
enum { OLDEST_HOST = 3025000 };

static void version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_text(context, EVALCI_VERSION, -1, SQLITE_STATIC);
}

#define TAKES(i) (1u << (i))

static const evalci_function functions[] = {
    {"ci_lo", TAKES(1), evalci_lo},
    {"ci_hi", TAKES(1), evalci_hi},
    {"ci_width", TAKES(1), evalci_width},
    {"ci_text", TAKES(1) | TAKES(2), evalci_text},
    {"ci_bar", TAKES(1) | TAKES(2) | TAKES(3), evalci_bar},
    {"evalci_version", TAKES(0), version},
};

static int register_functions(sqlite3 *db) {
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const evalci_function *f = &functions[i];
    for (int arity = 0; f->arities >> arity && rc == SQLITE_OK; arity++)
      if (f->arities & TAKES(arity))
        rc = sqlite3_create_function_v2(db, f->name, arity, EVALCI_FLAGS, (void *)f, f->scalar,
                                        NULL, NULL, NULL);
  }
  return rc;
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
  static int (*const registrars[])(sqlite3 *) = {
      evalci_register_methods,
      evalci_register_clustered,
      register_functions,
      evalci_register_ci_methods,
  };
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof registrars / sizeof *registrars && rc == SQLITE_OK; i++)
    rc = registrars[i](db);
  /* SELECT load_extension() is itself a running statement, under which SQLite
  ** refuses to replace a function: the first load makes them, a second cannot. */
  if (rc == SQLITE_BUSY && error)
    *error = sqlite3_mprintf("evalci is loaded in this connection already");
  return rc;
}
