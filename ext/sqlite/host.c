/*
** What depends on which SQLite runs the extension.
*/
#include <string.h>

#include "surface.h"

/* Before 3.41 nothing tells whether somebody called sqlite3_interrupt(), but a statement that
** begins within another ends at once if so.  Made anew each time, because one that is kept
** would keep the connection from being closed; it takes 3 microseconds.  Without memory for it
** SQLite lets the outer statement fail, so that going on would be in vain. */
static bool statement_interrupted(sqlite3 *db) {
  sqlite3_stmt *statement = NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT 1 /* evalci: interrupted? */", -1, &statement, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(statement);
  sqlite3_finalize(statement);
  return rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM;
}

/* The headers need not be those of the host: the table of routines only ever grows, and that
** of 3.40 ends just before this one. */
static bool host_interrupted(void *db) {
  if (sqlite3_libversion_number() < 3041000) return statement_interrupted(db);
#if SQLITE_VERSION_NUMBER >= 3041000
  return sqlite3_is_interrupted(db);
#elif SQLITE_VERSION_NUMBER >= 3040000 && !defined SQLITE_CORE
  int (*is_interrupted)(sqlite3 *);
  memcpy(&is_interrupted, sqlite3_api + 1, sizeof is_interrupted);
  return is_interrupted(db);
#else
  return statement_interrupted(db);
#endif
}

ev_host evalci_host_of_db(sqlite3 *db) {
  return (ev_host){host_interrupted, db};
}

ev_host evalci_host_of(sqlite3_context *context) {
  return evalci_host_of_db(sqlite3_context_db_handle(context));
}
