/*
** JavaScript calls this to import a file or a folder: it is import_results(), with its choices
** as texts.
**
** The texts end with zeros: the path, then pairs of a choice's name and its value, then an empty
** text.  The result is NULL or an error message, to be freed by sqlite3_free().  The table
** temp.import_summary lists what was imported; out[0] and out[1] are the table and the format of
** import_done.
*/
#include <stdlib.h>
#include <string.h>

#include "../import/import.h"

char *page_import(sqlite3 *db, const char *texts, const char **out);

typedef struct choice {
  const char *name, **to;
} choice;

/* A number, or a message. */
static char *read_number(const char *name, const char *text, double *out) {
  char *end;
  *out = strtod(text, &end);
  return *end ? sqlite3_mprintf("%s must be a number, got '%s'", name, text) : NULL;
}

/* The range of scores; 0 and 1 where only one end is given. */
static char *read_range(const char *lo, const char *hi, import_choices *out) {
  out->has_range = lo || hi;
  char *error = read_number("the lowest score", lo ? lo : "0", &out->lo);
  return error ? error : read_number("the highest score", hi ? hi : "1", &out->hi);
}

static const char **find_choice(const choice *all, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(all[i].name, name) == 0) return all[i].to;
  return NULL;
}

char *page_import(sqlite3 *db, const char *texts, const char **out) {
  import_choices c = {0};
  import_done done = {0};
  const char *path = texts, *lo = NULL, *hi = NULL;
  const choice all[] = {{"from", &c.from},
                        {"table", &c.table},
                        {"keep", &c.keep},
                        {"model", &c.model_name},
                        {"task", &c.task_name},
                        {"scorer", &c.scorer},
                        {"metric", &c.metric},
                        {"filter", &c.filter},
                        {"split", &c.split},
                        {"items", &c.items},
                        {"lo", &lo},
                        {"hi", &hi},
                        {"model_column", &c.columns[IMPORT_MODEL]},
                        {"task_column", &c.columns[IMPORT_TASK]},
                        {"item_column", &c.columns[IMPORT_ITEM]},
                        {"attempt_column", &c.columns[IMPORT_ATTEMPT]},
                        {"correct_column", &c.columns[IMPORT_CORRECT]},
                        {"score_column", &c.columns[IMPORT_SCORE]},
                        {"error_column", &c.columns[IMPORT_ERROR]},
                        {"model_a_column", &c.of_votes[0]},
                        {"model_b_column", &c.of_votes[1]},
                        {"winner_column", &c.of_votes[2]}};
  for (const char *name = path + strlen(path) + 1, *value; *name;
       name = value + strlen(value) + 1) {
    const char **to = find_choice(all, sizeof all / sizeof *all, name);
    if (!to) return sqlite3_mprintf("there is no choice '%s'", name);
    *to = value = name + strlen(name) + 1;
  }
  char *error = read_range(lo, hi, &c);
  if (!error) error = import_results(db, &path, 1, &c, &done);
  if (!error) out[0] = done.table, out[1] = done.format;
  return error;
}
