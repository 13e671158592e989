/*
** evalci: error bars for LLM evals, inside SQL.
**
** For programs that build evalci in rather than load it.  From the top of the project:
**
**     cc -O2 -DSQLITE_CORE -ffp-contract=off -Iext -o program program.c \
**       $(find ext/stats ext/board ext/sqlite -name '*.c') -lsqlite3 -lgsl -lgslcblas -lm
**
** and in the program, after sqlite3_open(), call
**
**     sqlite3_evalci_init(db, NULL, NULL);
**
** or hand it once to sqlite3_auto_extension().  ext/CLIENTS.md has such a program.
*/
#ifndef EVALCI_H
#define EVALCI_H

#include <sqlite3.h>

#define EVALCI_VERSION "0.2.0"

/* The one symbol that the loadable extension exports. */
#if defined(_WIN32)
#define EVALCI_API __declspec(dllexport)
#else
#define EVALCI_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3_api_routines;
EVALCI_API int sqlite3_evalci_init(sqlite3 *db, char **error,
                                   const struct sqlite3_api_routines *api);

#ifdef __cplusplus
}
#endif

#endif
