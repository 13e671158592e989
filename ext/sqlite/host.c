/*
** What depends on which SQLite runs the extension.
*/
#include <string.h>

#include "surface.h"

/* Hosts can tell from 3.41 on, and the headers need not be theirs: the table of
** routines only ever grows, and that of 3.40 ends just before this one. */
static bool host_interrupted(void *db) {
  if (sqlite3_libversion_number() < 3041000) return false;
#if SQLITE_VERSION_NUMBER >= 3041000
  return sqlite3_is_interrupted(db);
#elif SQLITE_VERSION_NUMBER >= 3040000 && !defined SQLITE_CORE
  int (*is_interrupted)(sqlite3 *);
  memcpy(&is_interrupted, sqlite3_api + 1, sizeof is_interrupted);
  return is_interrupted(db);
#else
  (void)db;
  return false;
#endif
}

ev_host evalci_host_of_db(sqlite3 *db) {
  return (ev_host){host_interrupted, db};
}

ev_host evalci_host_of(sqlite3_context *context) {
  return evalci_host_of_db(sqlite3_context_db_handle(context));
}
