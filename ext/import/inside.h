/*
** Private to ext/import: shared by its files, in addition to formats.h.
**
**   import.c    files and folders, one after the other
**   bytes.c     the bytes of a file, standard input or an entry of a zip archive
**   zip.c       the directory of a zip archive
**   json.c      records of JSON          csv.c      records of CSV
**   sql.c       formats in SQL           columns.c  columns of a person's own table
**   stage.c     answers, sorted by sort.c, until all files are read
**   taken.c     which of them are taken  settle.c   inserts them into the table
**   direct.c    votes and counts         table.c    records as a table, for formats
**   summary.c   the list for people      map.c      hash table of counters by name
**   names.c     which metric is taken    near.c     a file's folders and neighbours
*/
#ifndef EVALCI_IMPORT_INSIDE_H
#define EVALCI_IMPORT_INSIDE_H

#include <stdio.h>
#include <string.h>

#include "formats.h"

enum { IMPORT_MOST_ASKED = 30, IMPORT_MOST_KEPT = 32, IMPORT_MOST_REFUSED = 20 };

typedef struct import_map import_map;
typedef struct import_sort import_sort;
typedef struct import_zip import_zip;

/* The first problem of a kind, as a line for people, and how many there are. */
typedef struct import_refusal {
  char *line;
  sqlite3_int64 count;
} import_refusal;

struct import_run {
  sqlite3 *db;      /* the person's */
  sqlite3 *scratch; /* for formats in SQL: has no tables */
  const import_choices *choices;
  import_file *files, **last;
  const import_file *together; /* the first of the files reported in one line */
  sqlite3_int64 file_count;
  char *head;          /* :head */
  char *error;         /* the message that ends the import */
  bool no_memory;      /* the import ends without a message */
  import_map *refused; /* import_refusal, by what they say up to ", got" */
  sqlite3_int64 refusals, unlisted;
  char *keep[IMPORT_MOST_KEPT + 1]; /* columns: first those that the person asked for, */
  int asked;                        /* this many; then others, kept if a file has them */
  sqlite3_int64 rows;               /* staged */
  sqlite3_int64 taken;              /* of them */
  sqlite3_int64 repeated;           /* questions whose attempts were counted */
  sqlite3_stmt *has;
  struct import_stage *stage;
};

/* Sets no_memory; returns false. */
bool import_no_memory(import_run *run);

/* Reports progress; false if the host wants to stop. */
bool import_progress(import_run *run);

/* A growing text. */
typedef struct import_buffer {
  char *text;
  size_t length, room;
} import_buffer;
bool import_make_room(import_run *run, import_buffer *buffer, size_t length);
static inline bool import_append(import_run *run, import_buffer *b, const void *bytes,
                                 size_t length) {
  if (length > b->room - b->length && !import_make_room(run, b, length)) return false;
  if (length > 0) memcpy(b->text + b->length, bytes, length);
  b->length += length;
  return true;
}
void import_buffer_free(import_buffer *buffer);

/*
** bytes.c
*/

/* Where the bytes of a file are. */
typedef struct import_source {
  char *path;      /* to open; NULL: */
  FILE *spool;     /* standard input, copied */
  import_zip *zip; /* once its directory was read */
  sqlite3_int64 size;
} import_source;

enum { IMPORT_BUFFER = 1 << 16 };

typedef struct import_bytes {
  import_run *run;
  const import_file *file;
  const unsigned char *at, *end; /* bytes read and not yet used */
  sqlite3_int64 offset;          /* of `end` */
  sqlite3_int64 line;            /* for messages; readers count */
  bool failed;
  FILE *from;
  bool text;                    /* the text is UTF-8, and checked */
  int expected;                 /* bytes still to come of a character, */
  unsigned char first;          /* of which the */
  unsigned char lo, hi;         /* next is from lo to hi */
  struct import_unpack *unpack; /* of an entry; bytes.c */
  unsigned char buffer[IMPORT_BUFFER];
} import_bytes;

import_bytes *import_bytes_open(import_run *run, const import_file *file, bool text);
import_bytes *import_bytes_entry(import_run *run, const import_file *file, const char *entry);
void import_bytes_close(import_bytes *in);
/* Reads more; false at the end, and after leaving a message (in->failed). */
bool import_bytes_fill(import_bytes *in);

/* The next byte, or -1 at the end. */
static inline int import_peek(import_bytes *in) {
  return in->at < in->end || import_bytes_fill(in) ? *in->at : -1;
}

/* What becomes another when a file is written to or replaced. */
typedef struct import_stamp {
  sqlite3_int64 size, seconds, nanoseconds, device, number;
} import_stamp;
/* Whether it is a regular file, and its stamp unless `stamp` is NULL. */
bool import_is_file(const char *path, import_stamp *stamp);
FILE *import_file_open(const char *path);
FILE *import_file_temporary(void);
bool import_seek(FILE *file, sqlite3_int64 offset);
bool import_spool(import_run *run, FILE *from, import_source *source);

/*
** zip.c
*/
typedef struct import_zip_entry {
  unsigned method;
  bool encrypted;
  uint64_t packed, size, offset; /* of its bytes */
  uint32_t crc;                  /* of them unpacked */
} import_zip_entry;

struct import_zip {
  import_map *entries; /* import_zip_entry, by name */
  size_t count;
};
/* Reads the directory, once. */
const import_zip *import_zip_of(import_run *run, const import_file *file);
void import_zip_free(import_zip *zip);

/*
** json.c, csv.c
*/

/* Finds out what a text file is; returns its outline, sqlite3_malloc'ed, or NULL after leaving a
** message. */
char *import_outline_json(import_run *run, const import_file *file, import_kind *kind);
char *import_outline_csv(import_run *run, const import_file *file);

/* Decodes a JSON string, with its quotes, to text; returns the length.  `out` needs at most the
** room of the string itself. */
size_t import_unquote(const char *json, const char *end, char *out);
/* The end of a JSON value. */
const char *import_skip_value(const char *json);
bool import_append_quoted(import_run *run, import_buffer *out, const char *text, size_t length);

typedef struct import_csv import_csv;
/* Reads the header too. */
import_csv *import_csv_open(import_run *run, const import_file *file);
/* Whether its numbers may have a decimal comma. */
bool import_csv_has_commas(const import_csv *csv);
size_t import_csv_width(const import_csv *csv);
const char *import_csv_name(const import_csv *csv, size_t column);
/* Selects the columns needed; all by default. */
void import_csv_want(import_csv *csv, size_t column, bool wanted);
/* 1, 0 after the last, -1 after leaving a message. */
int import_csv_next(import_csv *csv);
import_value import_csv_field(const import_csv *csv, size_t column);
sqlite3_int64 import_csv_line(const import_csv *csv); /* the line on which the record begins */
void import_csv_close(import_csv *csv);

/*
** columns.c, tables.c: a person's own tables
*/

/* The shape of a table: answers, votes or counts. */
typedef struct import_shape {
  const char *table; /* of a database, unless the person names one */
  int count;         /* of columns, at most IMPORT_COLUMNS */
  const char *const *names;
  /* How well a column's name fits a role: 0 not at all, 1 an alias, 2 its name, 3 named by the
  ** person. */
  int (*suits)(const import_run *run, int role, const char *name, size_t length);
  /* Whether all required columns are there. */
  bool (*enough)(const import_run *run, const bool *there);
  /* Reports what is missing; true if nothing is. */
  bool (*check)(import_run *run, const import_file *file, const bool *there, const char *columns);
  bool (*take)(import_run *run, import_file *file, const import_answer *row);
} import_shape;

/* The shape of answers. */
extern const import_shape import_answers;

bool import_knows_table(import_run *run, const import_file *file, const import_shape *shape);
bool import_read_table(import_run *run, import_file *file, const import_shape *shape);
/* Like import_select(), for rows of that shape. */
bool import_select_as(import_run *run, import_file *file, sqlite3 *db, const char *sql,
                      const import_shape *shape);

/* The column of each role in a person's table; -1 if there is none. */
typedef struct import_roles {
  int of[IMPORT_COLUMNS];
  int kept[IMPORT_MOST_KEPT];
} import_roles;

/* Finds the columns by name; false after leaving a message. */
bool import_find_roles(import_run *run, const import_file *file, const import_shape *shape,
                       const char *const *names, size_t count, import_roles *out);
bool import_is_name(const char *name, size_t length, const char *other);
/* Whether a name is an alias of an evalci_role: 2, or 1 if other columns are preferred. */
int import_suits_alias(const char *name, size_t length, int role);
extern const char *const import_column_names[IMPORT_COLUMNS];

/*
** map.c: entries by a name of bytes, counted from 0
*/
import_map *import_map_new(size_t entry_size);
/* The entry of a name, zeroed if it is new and `make` is set; NULL without memory, or if there
** is none. */
void *import_map_at(import_map *map, const void *name, size_t length, bool make);
size_t import_map_count(const import_map *map);
void *import_map_entry(const import_map *map, size_t i);
const char *import_map_name(const import_map *map, size_t i, size_t *length);
void import_map_free(import_map *map);

/*
** sort.c: rows in the order of their keys' bytes, in bounded memory
*/
import_sort *import_sort_new(void);
/* False: no memory, or no room for the temporary file. */
bool import_sort_add(import_sort *sort, const void *key, size_t key_length, const void *row,
                     size_t row_length);
/* Starts from the beginning; may be called again. */
bool import_sort_start(import_sort *sort);
/* 1, 0 after the last, -1 if it cannot be read. */
int import_sort_next(import_sort *sort, const unsigned char **key, size_t *key_length,
                     const unsigned char **row, size_t *row_length);
void import_sort_free(import_sort *sort);

/*
** stage.c, settle.c
*/

/* Counts of a model and a task. */
typedef struct import_pair {
  bool graded; /* some answer has a score and no verdict, and is neither 0 nor 1 */
  bool found;  /* the same for the answers that are taken */
  bool made;
  size_t index; /* its number among the pairs */
  /* What results holds. */
  sqlite3_int64 rows, answers, verdicts, correct;
  double sum, least, most; /* smallest and largest score without a range */
  bool has_scores;
} import_pair;

typedef struct import_stage {
  import_sort *sort;
  import_map *pairs; /* "model\0task" */
  import_map *asked; /* of a file and a pair */
  import_buffer key, row;
  sqlite3_int64 count;
  bool has[IMPORT_COLUMNS + IMPORT_MOST_KEPT]; /* which columns have any value */
  const char *direct;                          /* the table of direct.c, if a file used it */
  sqlite3_stmt *insert;
  /* Of the latest file. */
  const import_file *file;
  double created; /* as a day; -INFINITY if unknown */
  /* The latest pair. */
  import_buffer pair_name;
  import_pair *pair;
} import_stage;

bool import_stage_begin(import_run *run);
void import_stage_end(import_run *run);

/* A row read back from the stage. */
typedef struct import_staged {
  const unsigned char *key;
  size_t key_length, same; /* the first `same` bytes are task, item, model and attempt */
  const char *model, *task;
  import_value item;
  bool has_attempt;
  sqlite3_int64 attempt, file, number;
  int correct; /* -1 unknown */
  import_value error, score, cost, latency, tokens;
  import_value kept[IMPORT_MOST_KEPT];
} import_staged;
void import_staged_read(import_run *run, const unsigned char *key, size_t key_length,
                        const unsigned char *row, import_staged *out);

/* Reads a number or nothing; false if the value is neither. */
bool import_read_score(import_value v, import_value *out);
/* Where an answer is in its file, for messages: its own place, or the record's number. */
const char *import_place_of(const import_file *file, const import_answer *a, char room[60]);

/* import_refuse() of an answer, whose message may end with the value that is wrong. */
bool import_refuse_answer(import_run *run, const import_file *file, const import_answer *a,
                          const char *what);
bool import_refuse_value(import_run *run, const import_file *file, const import_answer *a,
                         const char *what, import_value v);

/* A name as text; a number is written to `room`. */
import_value import_as_text(import_value v, char room[40]);

/*
** direct.c: votes and counts, which go to a table of their own at once
*/

/* Prepares the table: its columns, and those for which values are given.  All files of an import
** must use the same table. */
bool import_direct_begin(import_run *run, const import_file *file, const char *table,
                         const char *definition, const char *columns);
/* Adds a row of values and kept columns; it replaces a row with the same key. */
bool import_direct_add(import_run *run, import_file *file, const import_value *values, int count,
                       const import_value *kept);
/* Counts what is there now, and fills temp.import_summary. */
bool import_direct_end(import_run *run, import_done *done);

/* Whether an answer makes its model and task graded: taken.c. */
bool import_grades(const import_choices *c, const import_staged *r);

/* The rows that are taken, for the virtual table import_taken. */
typedef struct import_taking {
  import_run *run;
  const import_file **files; /* by number */
  bool *replaced;            /* pairs of which another run is later */
  import_buffer last;        /* the key of the previous row */
  sqlite3_int64 file, counted, questions;
  import_staged row;
  import_pair *pair;
  bool ended;
} import_taking;
bool import_taken_begin(import_taking *taking);
void import_taken_end(import_taking *taking);

bool import_settle(import_run *run, import_done *done);

/* summary.c: counts of results, for one answer and for all. */
typedef struct import_held {
  bool errored, verdict, ranged;
  double value;
} import_held;
void import_count(import_pair *pair, import_held held);
void import_uncount(import_run *run);
/* Counts all of results, if it had rows before. */
bool import_recount(import_run *run, import_done *done);
/* Counts models and tasks, if all rows are of this import. */
bool import_count_names(import_run *run, import_done *done);
/* Makes temp.import_summary. */
bool import_summarize(import_run *run);

/* Runs SQL on the person's database; false after leaving a message. */
bool import_exec(import_run *run, const char *format, ...);
bool import_prepare(import_run *run, sqlite3_stmt **out, const char *format, ...);
bool import_db_failed(import_run *run);
/* Whether a table of the person's database has a column. */
bool import_has_column(import_run *run, const char *table, const char *column);

/*
** names.c
*/

/* Called before a file is read, after it, and after the last file. */
bool import_names_begin(import_run *run, const import_file *file);
bool import_names_end(import_run *run, import_file *file);
bool import_names_check(import_run *run);
/* Runs a statement on the scratch database with texts bound to ?1 and so on; returns the first
** column of its row, or NULL, for sqlite3_free(). */
bool import_ask(import_run *run, const import_file *file, const char *sql, const char *const *texts,
                int count, char **out);

/* formats.c: the format of a file; NULL if it is unknown. */
const import_format *import_detect(import_run *run, import_file *file);
/* Kind and outline; false after leaving a message. */
bool import_look(import_run *run, import_file *file);
char *import_outline_zip(import_run *run, const import_file *file);
char *import_outline_database(import_run *run, const import_file *file);

#endif
