/*
** What depends on which SQLite runs the extension.
*/
#include <string.h>

#include "surface.h"

/* SQLite before 3.41 cannot tell an extension whether sqlite3_interrupt() was called, but a
** statement that begins inside another one fails at once if it was.  The statement is prepared
** each time (3 microseconds), because a kept one would keep the connection from closing.
** Without memory for it SQLite makes the outer statement fail, so computing on would be in vain. */
static bool statement_interrupted(sqlite3 *db) {
  sqlite3_stmt *statement = NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT 1 /* evalci: interrupted? */", -1, &statement, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(statement);
  sqlite3_finalize(statement);
  return rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM;
}

/* The host may be older than the headers: the table of routines only ever grows, and that of
** 3.40 ends just before this routine. */
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
  return (ev_host){.interrupted = host_interrupted, .context = db};
}

ev_host evalci_host_of(sqlite3_context *context) {
  return evalci_host_of_db(sqlite3_context_db_handle(context));
}
