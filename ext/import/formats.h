/*
** Private to ext/import: how a format is made.
**
** A format is one file with a row of the table in formats.c:
**
**   const import_format import_inspect_log = {
**       .name = "inspect", .reads = "Inspect's .eval and .json logs", .recognised_by = "...",
**       .becomes = "...", .knows = knows, .read = read};
**
** knows() looks at the file's outline, a small JSON object that is made of any kind of file:
**
**   CSV        {"column":null,...}
**   JSON lines, a JSON array   the first record
**   JSON       the document as far as IMPORT_LOOK bytes reach: arrays have their first
**              element only, long strings are cut
**   zip        {"name of an entry":its size,...}
**   database   {"table or view":{"column":"its declared type",...},...}
**
**   static bool knows(import_run *run, const import_file *file) {
**     return file->kind == IMPORT_JSON && import_has(run, file, "$.eval.task");
**   }
**
** read() stages answers.  Mostly it is a SELECT over one record at a time, in which
**
**   :record   is a record of the file as JSON: what import_open() was told to hand out.  A
**             record of a CSV file is an array of texts
**   :head     is the rest of the document, or the header of a CSV file as an array
**   :number   counts the records from 1; :name, :stem, :folder and :path are the file's
**   :scorer, :metric, :filter, :split   what the person chose; NULL where nothing
**   :file_model, :file_task, :file_metric   what import_about() found
**
** and whose rows are answers.  Their columns are recognised by their names: model, task, item,
** attempt, correct, score, error, cost (US dollars), latency (seconds), tokens; all but item
** may be left out.  A model or task that is NULL is the file's; an attempt that is NULL is
** counted.  correct and score may be words such as true, pass or C.  Then `place`, a text
** that says where the answer is ("record 7" unless given), and `refused`, a text: why this
** answer stops the import.  Other columns are kept where the person asks for them by name.
**
**   static const char about[] =
**       "SELECT :head ->> '$.eval.model' AS model, :head ->> '$.eval.task' AS task, ...";
**   static const char answers[] = "SELECT :record ->> '$.id' AS item, ...";
**
**   static bool read(import_run *run, import_file *file) {
**     return import_head(run, file, "$.samples") && import_about(run, file, about) &&
**            import_each(run, file, "$.samples", "id,epoch,scores,error", answers);
**   }
**
** Everything that can fail returns false and has left a message: pass that on.  What was read
** is undone then, and the import stops.  A file that is left out, with the reason, is no
** failure: import_skip().
**
** SQLite may be 3.40: its JSON functions know ->> but no JSON5, and no jsonb.
*/
#ifndef EVALCI_IMPORT_FORMATS_H
#define EVALCI_IMPORT_FORMATS_H

#include <stddef.h>
#include <stdint.h>

#include "../sqlite/roles.h"
#include "import.h"

enum {
  IMPORT_LOOK = 1 << 20,                 /* bytes of a document from which its outline is made */
  IMPORT_DEEPEST = 500,                  /* nesting of arrays and objects; SQLite allows 1000 */
  IMPORT_LONGEST = EVALCI_LONGEST_VALUE, /* bytes of a record that are kept, and */
  IMPORT_MOST_VALUES = 2000000,          /* values in it: SQLite needs 16 to 48 bytes for each */
  IMPORT_FIELD = EVALCI_LONGEST_NAME     /* bytes of a model, task, item and so on */
};

typedef enum import_kind {
  IMPORT_CSV,
  IMPORT_JSON,  /* one document, an object */
  IMPORT_JSONL, /* lines, or an array of records */
  IMPORT_ZIP,
  IMPORT_DATABASE
} import_kind;

typedef struct import_run import_run; /* of import_results(); inside.h */

/* A file to import.  Formats set its fields by import_set() or import_about(). */
typedef struct import_file {
  const char *path;                 /* as messages show it */
  const char *name, *stem, *folder; /* "a.csv", "a", and "" or the path up to the last slash */
  bool given;                       /* named by the person, not found in a folder */
  import_kind kind;
  const char *outline;
  const import_format *format;
  /* Set by the format, if the file says so. */
  char *model, *task; /* the model and task of answers that have none of their own */
  char *metric;       /* the metric taken, shown to people */
  char *created; /* as julianday() reads it; if two files have the same answer, the later one is
                    taken */
  char *note;    /* shown to people */
  char *unit;    /* what a record is called: "record" unless set */
  bool adds;     /* its answers are attempts beside those of other files */
  bool one_run;  /* if two such files have the same model and task, only the later one is taken */
  bool strict;   /* a person's table: two rows for the same attempt are refused */
  bool skipped;  /* the file is left out; `note` says why */
  const struct import_file *told_with; /* set by import_report_together() */
  sqlite3_int64 rows;                  /* votes or counts, which settle.c does not handle */
  sqlite3_int64 id;                    /* counts the files */
  struct import_source *source;        /* where its bytes are: bytes.c */
  struct import_file *next;
} import_file;

struct import_format {
  const char *name, *reads, *recognised_by, *becomes; /* for people */
  const char *keeps; /* other columns that are kept unasked, commas between them, or NULL */
  bool (*knows)(import_run *run, const import_file *file);
  bool (*read)(import_run *run, import_file *file);
};

/* The person's choices. */
const import_choices *import_chosen(const import_run *run);

/* Whether the outline has something, as in "$.eval.task"; null is something. */
bool import_has(import_run *run, const import_file *file, const char *path);

/* Whether a name matches a GLOB pattern. */
bool import_named(const import_file *file, const char *glob);

/*
** Messages; all take the format of sqlite3_mprintf().
*/

/* Ends the import; returns false.  The path is added to the message. */
bool import_fail(import_run *run, const import_file *file, const char *format, ...);

/* Adds a problem to the list of what stops the import, and goes on; false if it cannot.  Those that
** say the same up to ", got" are of one kind: a line says the first and counts the others.  At most
** twenty kinds are listed. */
bool import_refuse(import_run *run, const import_file *file, const char *place, const char *format,
                   ...);

/* Leaves the file out and says why; false if it cannot. */
bool import_skip(import_run *run, import_file *file, const char *format, ...);

/* Adds to the file's note. */
bool import_note(import_run *run, import_file *file, const char *format, ...);

/* Reports consecutive files of the same format and model in one line, for tools that write one
** file per answer. */
void import_report_together(import_run *run, import_file *file);

/* Sets a text of a file, such as &file->model; NULL and "" leave it. */
bool import_set(import_run *run, char **out, const char *format, ...);

/*
** sql.c: formats in SQL
*/

/* Runs a SELECT that gives a row about the file: columns model, task, metric, created, note,
** and skip, which is a note that leaves the file out.  Sets what is not NULL; the person's
** model_name and task_name go before.  :head is that of import_head(), :record may be NULL. */
bool import_about(import_run *run, import_file *file, const char *sql, const char *record);

/* Runs a SELECT for each record, see above.  `at` is where the records are, as in
** import_open(), and `keys` which of their keys are needed: NULL for all, else names with
** commas between them.  The rest of a record is then passed over and costs no memory. */
bool import_each(import_run *run, import_file *file, const char *at, const char *keys,
                 const char *sql);

/* Runs a SELECT for one record that the format read itself. */
typedef struct import_query import_query;
bool import_query_new(import_run *run, import_file *file, const char *sql, import_query **out);
bool import_query_run(import_query *query, sqlite3_int64 number, const char *record, size_t length);
void import_query_free(import_query *query);

/* Runs a SELECT on another tool's database; its rows are answers, as above. */
bool import_select(import_run *run, import_file *file, sqlite3 *db, const char *sql);

/* For SQL over a value of JSON, in columns type and value as json_each() has them: the number,
** also of true, false and NumPy's texts; and the reason if it is not a number. */
#define IMPORT_NUMBER                                                                              \
  "CASE WHEN type IN ('true', 'false', 'integer', 'real') THEN CAST(value AS REAL) "               \
  "     WHEN type <> 'text' THEN NULL "                                                            \
  "     WHEN lower(value) IN ('true', 'false') THEN lower(value) = 'true' "                        \
  "     WHEN json_valid(value) AND json_type(value) IN ('integer', 'real') "                       \
  "     THEN CAST(value AS REAL) END"
#define IMPORT_NO_NUMBER                                                                           \
  "CASE WHEN value IS NULL THEN 'score is missing' "                                               \
  "     WHEN score IS NULL THEN 'score is not a number: ' || substr(value, 1, 100) END"

/* Opens the file as a database: read-only, trusting nothing in it.  Temporary views may be made
** in it.  Close it by sqlite3_close(); NULL after leaving a message. */
sqlite3 *import_database(import_run *run, const import_file *file);

/*
** json.c and csv.c: records
*/
typedef struct import_records import_records;

/* The records of a file: where `at` is NULL the lines of JSON lines, the elements of an array,
** an object as it is, the lines of a CSV file after its header; else the elements of the
** array, or the values of the object, at a path of keys such as "$.results.results".  NaN and
** infinities, which Python writes, are null.  NULL after leaving a message. */
import_records *import_open(import_run *run, const import_file *file, const char *at,
                            const char *keys);
/* The same for an entry of a zip archive, which is known to be undamaged only after its last
** record. */
import_records *import_open_entry(import_run *run, const import_file *file, const char *entry,
                                  const char *at, const char *keys);
/* The next record: 1; 0 after the last, -1 after leaving a message.  It ends with a zero and
** is valid until there is another.  `key` is its name among the values of an object, or NULL. */
int import_next(import_records *records, const char **text, size_t *length, const char **key);
sqlite3_int64 import_number(const import_records *records); /* of the latest; from 1 */
/* After the last: the document without the records. */
bool import_rest(import_records *records, const char **out);
void import_close(import_records *records);

/* Reads the file for its import_rest(), which is :head from then on. */
bool import_head(import_run *run, import_file *file, const char *at);
/* Sets :head. */
bool import_set_head(import_run *run, const char *text);

/* All records of a file as a table records(number, record) of a temporary database, closed by
** sqlite3_close(), for formats in which other records say what one means: import_select() reads
** it.  Sets :head too.  NULL after leaving a message. */
sqlite3 *import_table(import_run *run, const import_file *file, const char *at, const char *keys);

/* A JSON document beside the file, such as "run_spec.json": its text, for sqlite3_free();
** NULL in `out` if there is none, or it is not JSON. */
bool import_beside(import_run *run, const import_file *file, const char *name, char **out);

/* The names of a zip archive's entries, in order; NULL after the last. */
const char *import_entry(import_run *run, const import_file *file, int i);

/*
** names.c: which of several metrics, scorers, filters or splits is taken
**
** A format runs a SELECT over records, in which :record and :head are as above, and whose rows
** are names: what ("metric", "scorer", "filter", "split", or a word of its own), name, and rank.
** Then import_taken(what, name) is a table for its SQL, with one name for each `what`: the one
** that the person chose, or else that of the least rank, or else the first; one whose rank is
** NULL is taken only if it is chosen.  import_names(what, name, rank, n) has them all, and how
** often they came.  A file that lacks the chosen one gets a note; a choice that no file had
** ends the import with an error that names those there are.
*/

/* Over the records of the file, as in import_each(); to the first that has names, or all. */
bool import_names(import_run *run, import_file *file, const char *at, const char *keys,
                  const char *sql, bool all);
/* The same in steps, for records that the format has got itself. */
bool import_names_add(import_run *run, const import_file *file, const char *sql,
                      const char *record);
bool import_names_enough(import_run *run, const import_file *file, bool *enough);
bool import_names_take(import_run *run, const import_file *file);
/* The name that is taken, for sqlite3_free(); NULL if none is. */
bool import_taken(import_run *run, const char *what, char **out);

/*
** near.c: what lies about a file
*/

/* The name of its folder, or of the one so many above that. */
bool import_folder(import_run *run, const import_file *file, int above, char **out);
/* The first name by GLOB in its folder, or in the one that `up`, such as "../", leads to, as
** import_beside() takes it; NULL if there is none. */
bool import_near(import_run *run, const import_file *file, const char *up, const char *glob,
                 char **name);
/* A text file. */
bool import_text(import_run *run, const char *path, char **out);

/*
** stage.c
*/
typedef enum import_type { IMPORT_NOTHING, IMPORT_INTEGER, IMPORT_REAL, IMPORT_TEXT } import_type;

typedef struct import_value {
  import_type type;
  sqlite3_int64 integer;
  double real;
  const char *text; /* need not end with a zero */
  size_t length;
} import_value;

/* An answer, as it was found: words are understood, and what cannot be is refused. */
typedef struct import_answer {
  import_value of[IMPORT_COLUMNS];
  const import_value *kept; /* as many as columns are kept; NULL: none of them */
  const char *place;        /* NULL: the file's unit and */
  sqlite3_int64 number;
  bool comma; /* numbers have a decimal comma */
} import_answer;
bool import_take(import_run *run, import_file *file, const import_answer *answer);

#endif
