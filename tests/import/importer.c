/*
** import_results() as a program, for tests/import: importer DATABASE [KEY=VALUE...] FILE...
**
** Prints the rows of temp.import_summary and the counts; or an error, and exits with status 1.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/import/import.h"

typedef struct setting {
  const char *key;
  const char **to;
} setting;

/* Sets the setting that the text names; false if it names none. */
static int set(const setting *settings, size_t count, const char *text) {
  for (size_t i = 0; i < count; i++) {
    size_t n = strlen(settings[i].key);
    if (strncmp(text, settings[i].key, n) == 0 && text[n] == '=')
      return *settings[i].to = text + n + 1, 1;
  }
  return 0;
}

static int show(void *unused, int count, char **values, char **names) {
  (void)unused;
  (void)names;
  for (int i = 0; i < count; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "");
  puts("");
  return 0;
}

int main(int argc, char **argv) {
  import_choices c = {0};
  import_done done;
  sqlite3 *db;
  const char *lo = NULL, *hi = NULL;
  const setting settings[] = {{"from", &c.from},
                              {"model", &c.columns[IMPORT_MODEL]},
                              {"task", &c.columns[IMPORT_TASK]},
                              {"item", &c.columns[IMPORT_ITEM]},
                              {"attempt", &c.columns[IMPORT_ATTEMPT]},
                              {"correct", &c.columns[IMPORT_CORRECT]},
                              {"score", &c.columns[IMPORT_SCORE]},
                              {"error", &c.columns[IMPORT_ERROR]},
                              {"cost", &c.columns[IMPORT_COST]},
                              {"latency", &c.columns[IMPORT_LATENCY]},
                              {"tokens", &c.columns[IMPORT_TOKENS]},
                              {"model_a", &c.of_votes[0]},
                              {"model_b", &c.of_votes[1]},
                              {"winner", &c.of_votes[2]},
                              {"table", &c.table},
                              {"keep", &c.keep},
                              {"model_name", &c.model_name},
                              {"task_name", &c.task_name},
                              {"scorer", &c.scorer},
                              {"metric", &c.metric},
                              {"filter", &c.filter},
                              {"split", &c.split},
                              {"items", &c.items},
                              {"lo", &lo},
                              {"hi", &hi}};
  int first = 2;
  while (first < argc && set(settings, sizeof settings / sizeof *settings, argv[first])) first++;
  if (argc < 3 || sqlite3_open(argv[1], &db) != SQLITE_OK) return 2;
  if (lo && hi) {
    c.has_range = true;
    c.lo = atof(lo);
    c.hi = atof(hi);
  }
  char *error = import_results(db, (const char *const *)argv + first, argc - first, &c, &done);
  if (error) {
    puts(error);
  } else {
    sqlite3_exec(db, "SELECT * FROM temp.import_summary", show, NULL, NULL);
    printf("%s %s: rows %lld, models %lld, tasks %lld, questions %lld\n", done.format, done.table,
           done.rows, done.models, done.tasks, done.questions);
  }
  int status = error != NULL;
  sqlite3_free(error);
  return sqlite3_close(db) != SQLITE_OK || status;
}
