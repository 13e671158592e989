/*
** Which columns of a person's own table are what: the ones that the person names; else the
** ones that are called so; else the only ones with an alias of ext/sqlite/roles.c.
*/
#include <string.h>

#include "../sqlite/roles.h"
#include "inside.h"

_Static_assert(IMPORT_MODEL == (int)EVALCI_MODEL && IMPORT_ERROR == (int)EVALCI_ERROR,
               "the first columns are the first roles");

const char *const import_column_names[IMPORT_COLUMNS] = {
    "model", "task", "item", "attempt", "correct", "score", "error", "cost", "latency", "tokens"};

static bool is_name(const char *name, size_t length, const char *other) {
  return strlen(other) == length && sqlite3_strnicmp(name, other, (int)length) == 0;
}

int import_suits(const import_run *run, int role, const char *name, size_t length) {
  const char *const *given = run->choices->columns;
  if (given[role]) return is_name(name, length, given[role]) ? 3 : 0;
  /* The person may have taken it for something else. */
  for (int i = 0; i < IMPORT_COLUMNS; i++)
    if (given[i] && is_name(name, length, given[i])) return 0;
  if (is_name(name, length, import_column_names[role])) return 2;
  if (role == IMPORT_TOKENS && is_name(name, length, "total_tokens")) return 1;
  for (int i = 0; role <= IMPORT_ERROR && i < EVALCI_MOST_ALIASES && evalci_role_aliases[role][i];
       i++)
    if (is_name(name, length, evalci_role_aliases[role][i])) return 1;
  return 0;
}

/* All names, with commas between them; cut where they are many. */
static char *list_names(const char *const *names, size_t count) {
  sqlite3_str *out = sqlite3_str_new(NULL);
  size_t i = 0;
  for (; i < count && sqlite3_str_length(out) < 1000; i++)
    sqlite3_str_appendf(out, "%s%.60s", i ? ", " : "", names[i]);
  if (i < count) sqlite3_str_appendf(out, " and %d more", (int)(count - i));
  return sqlite3_str_finish(out);
}

bool import_check_roles(import_run *run, const import_file *file, const bool *there,
                        const char *columns) {
  const import_choices *c = run->choices;
  for (int i = 0; i < IMPORT_COLUMNS; i++)
    if (c->columns[i] && !there[i])
      return import_fail(run, file, "there is no column %s, which --%s names; there are: %s",
                         c->columns[i], import_column_names[i], columns);
  if (!there[IMPORT_MODEL] && !c->model_name && !file->model)
    return import_fail(
        run, file,
        "there is no column model; there are: %s; say which it is by --model COLUMN, or name the "
        "model by --model-name NAME",
        columns);
  if (!there[IMPORT_ITEM])
    return import_fail(
        run, file,
        "there is no column item, the question; there are: %s; say which it is by --item COLUMN",
        columns);
  if (!there[IMPORT_CORRECT] && !there[IMPORT_SCORE])
    return import_fail(run, file,
                       "there is no column correct or score; there are: %s; say which it is by "
                       "--correct COLUMN or "
                       "--score COLUMN",
                       columns);
  return true;
}

/* The column of a role; -1 if there is none. */
static bool find_role(import_run *run, const import_file *file, int role, const char *const *names,
                      size_t count, int *out) {
  int best = 0;
  size_t same = 0;
  *out = -1;
  for (size_t i = 0; i < count; i++) {
    int suits = import_suits(run, role, names[i], strlen(names[i]));
    if (suits == 0 || suits < best) continue;
    same = suits == best ? same + 1 : 1;
    if (suits == best && sqlite3_stricmp(names[*out], names[i]) != 0)
      return import_fail(run, file, "both %s and %s may be the %s; say which it is by --%s COLUMN",
                         names[*out], names[i], import_column_names[role],
                         import_column_names[role]);
    best = suits;
    *out = (int)i;
  }
  return same <= 1 || import_fail(run, file, "there are %d columns %s", (int)same, names[*out]);
}

bool import_find_roles(import_run *run, const import_file *file, const char *const *names,
                       size_t count, import_roles *out) {
  bool there[IMPORT_COLUMNS], ok = true;
  for (int i = 0; ok && i < IMPORT_COLUMNS; i++) {
    ok = find_role(run, file, i, names, count, &out->of[i]);
    there[i] = out->of[i] >= 0;
  }
  char *all = list_names(names, count);
  ok = ok && (all ? import_check_roles(run, file, there, all) : import_no_memory(run));
  for (int i = 0; ok && run->keep[i]; i++) {
    out->kept[i] = -1;
    for (size_t k = 0; k < count; k++)
      if (sqlite3_stricmp(names[k], run->keep[i]) == 0) out->kept[i] = (int)k;
    if (out->kept[i] < 0)
      ok =
          import_fail(run, file, "there is no column %s to keep; there are: %s", run->keep[i], all);
  }
  sqlite3_free(all);
  return ok;
}
