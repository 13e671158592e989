/*
** Private to ext/import: what its own files share, beside formats.h.
**
**   import.c    files and folders to read, one after the other
**   bytes.c     the bytes of a file, standard input or an entry of a zip archive
**   zip.c       the directory of a zip archive
**   json.c      records of JSON          csv.c      records of CSV
**   sql.c       formats in SQL           columns.c  columns of a person's own table
**   stage.c     answers, sorted by sort.c, until all files are read
**   taken.c     which of them are taken  settle.c   how they get into the table
**   direct.c    votes and counts         table.c    records as a table, for formats
**   told.c      what people are told     map.c      what is counted by name
**   names.c     which metric is taken    near.c     what lies about a file
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

struct import_run {
  sqlite3 *db;      /* the person's */
  sqlite3 *scratch; /* for formats in SQL: has no tables */
  const import_choices *choices;
  import_file *files, **last;
  const import_file *together; /* the first of files that are told of in one line */
  sqlite3_int64 file_count;
  char *head;     /* :head */
  char *error;    /* what ends the import */
  bool no_memory; /* it ends without a message */
  char *refused;  /* lines, for people */
  sqlite3_int64 refusals;
  char *keep[IMPORT_MOST_KEPT + 1]; /* columns; first those that the person asked for, */
  int asked;                        /* so many; then others, kept where there are any */
  sqlite3_int64 rows;               /* staged */
  sqlite3_int64 taken;              /* of them */
  sqlite3_int64 repeated;           /* questions whose attempts were counted */
  sqlite3_stmt *has;
  struct import_stage *stage;
};

/* False, with no_memory set. */
bool import_no_memory(import_run *run);

/* Tells the host how far it is; false if the host wants it to stop. */
bool import_progress(import_run *run);

/* A text that grows. */
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
  const unsigned char *at, *end; /* what was read and not yet used */
  sqlite3_int64 offset;          /* of `end` */
  sqlite3_int64 line;            /* for messages; readers count */
  bool failed;
  FILE *from;
  bool text;                    /* is UTF-8, and checked to be */
  int expected;                 /* bytes to come of a character of several, */
  unsigned char first;          /* of them */
  unsigned char lo, hi;         /* the next of them from lo to hi */
  struct import_unpack *unpack; /* of an entry; bytes.c */
  unsigned char buffer[IMPORT_BUFFER];
} import_bytes;

import_bytes *import_bytes_open(import_run *run, const import_file *file, bool text);
import_bytes *import_bytes_entry(import_run *run, const import_file *file, const char *entry);
void import_bytes_close(import_bytes *in);
/* Reads more; false at the end, and after leaving a message: in->failed. */
bool import_bytes_fill(import_bytes *in);

/* The next byte, or -1 at the end. */
static inline int import_peek(import_bytes *in) {
  return in->at < in->end || import_bytes_fill(in) ? *in->at : -1;
}

/* Whether it is a regular file, and its size. */
bool import_is_file(const char *path, sqlite3_int64 *size);
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
  uint64_t packed, size, offset; /* of its local header */
} import_zip_entry;

struct import_zip {
  import_map *entries; /* import_zip_entry, by name */
  size_t count;
};
/* Reads the directory, once. */
const import_zip *import_zip_of(import_run *run, const import_file *file);
void import_zip_free(import_zip *zip);
/* Moves to an entry's bytes. */
bool import_zip_seek(import_run *run, const import_file *file, FILE *from,
                     const import_zip_entry *entry);

/*
** json.c, csv.c
*/

/* What a text file is, and its outline; sqlite3_malloc'ed, NULL after leaving a message. */
char *import_outline_json(import_run *run, const import_file *file, import_kind *kind);
char *import_outline_csv(import_run *run, const import_file *file);

/* A string of JSON, with its quotes, to text: its length.  `out` has as much room as that
** needs, which is never more than the string itself. */
size_t import_unquote(const char *json, const char *end, char *out);
/* Where a value of JSON ends. */
const char *import_skip_value(const char *json);
bool import_append_quoted(import_run *run, import_buffer *out, const char *text, size_t length);

typedef struct import_csv import_csv;
/* Reads the header too. */
import_csv *import_csv_open(import_run *run, const import_file *file);
/* Whether its numbers may have a decimal comma. */
bool import_csv_has_commas(const import_csv *csv);
size_t import_csv_width(const import_csv *csv);
const char *import_csv_name(const import_csv *csv, size_t column);
/* Which columns are needed; all, unless told. */
void import_csv_want(import_csv *csv, size_t column, bool wanted);
/* 1, 0 after the last, -1 after leaving a message. */
int import_csv_next(import_csv *csv);
import_value import_csv_field(const import_csv *csv, size_t column);
sqlite3_int64 import_csv_line(const import_csv *csv); /* that the record begins on */
void import_csv_close(import_csv *csv);

/*
** columns.c, tables.c: a person's own tables
*/

/* What a table has: of answers, votes or counts. */
typedef struct import_shape {
  const char *table; /* of a database, unless the person names one */
  int count;         /* of columns, at most IMPORT_COLUMNS */
  const char *const *names;
  /* How far a column's name suits a role: 0 not at all, 1 an alias, 2 its name, 3 the person
  ** said so. */
  int (*suits)(const import_run *run, int role, const char *name, size_t length);
  /* Whether what is needed is there. */
  bool (*enough)(const import_run *run, const bool *there);
  /* Says what is missing; true if nothing is. */
  bool (*check)(import_run *run, const import_file *file, const bool *there, const char *columns);
  bool (*take)(import_run *run, import_file *file, const import_answer *row);
} import_shape;

/* Of answers. */
extern const import_shape import_answers;

bool import_knows_table(import_run *run, const import_file *file, const import_shape *shape);
bool import_read_table(import_run *run, import_file *file, const import_shape *shape);
/* As import_select(), of rows of that shape. */
bool import_select_as(import_run *run, import_file *file, sqlite3 *db, const char *sql,
                      const import_shape *shape);

/* Which columns of a person's table are what; -1 where none is. */
typedef struct import_roles {
  int of[IMPORT_COLUMNS];
  int kept[IMPORT_MOST_KEPT];
} import_roles;

/* Finds them among names; false after leaving a message. */
bool import_find_roles(import_run *run, const import_file *file, const import_shape *shape,
                       const char *const *names, size_t count, import_roles *out);
bool import_is_name(const char *name, size_t length, const char *other);
/* Whether it is an alias of an evalci_role: 2; 1 where another column goes before it. */
int import_suits_alias(const char *name, size_t length, int role);
extern const char *const import_column_names[IMPORT_COLUMNS];

/*
** map.c: entries by a name of bytes, counted from 0
*/
import_map *import_map_new(size_t entry_size);
/* The entry of that name, made of zeros if there is none and `make` says so; NULL without
** memory, or without one. */
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
/* From the beginning; may be called again. */
bool import_sort_start(import_sort *sort);
/* 1, 0 after the last, -1 if it cannot be read. */
int import_sort_next(import_sort *sort, const unsigned char **key, size_t *key_length,
                     const unsigned char **row, size_t *row_length);
void import_sort_free(import_sort *sort);

/*
** stage.c, settle.c
*/

/* Of a model and a task. */
typedef struct import_pair {
  bool graded; /* some answer has a score and no verdict, and is neither 0 nor 1 */
  bool found;  /* the same, of the answers that are taken */
  bool made;
  size_t index; /* among the pairs */
  /* What results holds. */
  sqlite3_int64 rows, answers, verdicts, correct;
  double sum, least, most; /* least and most of scores without a range */
  bool has_scores;
} import_pair;

typedef struct import_stage {
  import_sort *sort;
  import_map *pairs; /* "model\0task" */
  import_map *asked; /* of a file and a pair */
  import_buffer key, row;
  sqlite3_int64 count;
  bool has[IMPORT_COLUMNS + IMPORT_MOST_KEPT]; /* which columns have values at all */
  const char *direct;                          /* the table of direct.c, if any file was of that */
  sqlite3_stmt *insert;
  /* The latest file's. */
  const import_file *file;
  double created; /* as a day; -INFINITY where nothing is known */
  /* The latest pair. */
  import_buffer pair_name;
  import_pair *pair;
} import_stage;

bool import_stage_begin(import_run *run);
void import_stage_end(import_run *run);

/* A row of the stage, read again. */
typedef struct import_staged {
  const unsigned char *key;
  size_t key_length, same; /* of which `same` are task, item, model, attempt */
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

/*
** direct.c: votes and counts, which go to a table of their own at once
*/

/* Prepares the table: what it has, and which of its columns values are given for.  One table
** for all files of an import, or it is refused. */
bool import_direct_begin(import_run *run, const import_file *file, const char *table,
                         const char *definition, const char *columns);
/* Adds a row of so many values, and the kept ones; it replaces one with the same key. */
bool import_direct_add(import_run *run, import_file *file, const import_value *values, int count,
                       const import_value *kept);
/* What there is now, and temp.import_told. */
bool import_direct_end(import_run *run, import_done *done);

/* Whether an answer makes its model and task graded: taken.c. */
bool import_grades(const import_choices *c, const import_staged *r);

/* The rows that are taken, for the virtual table import_taken. */
typedef struct import_taking {
  import_run *run;
  const import_file **files; /* by number */
  bool *replaced;            /* of which another run is the later */
  import_buffer last;        /* the key of the row before */
  sqlite3_int64 file, counted, questions;
  import_staged row;
  import_pair *pair;
  bool ended;
} import_taking;
bool import_taken_begin(import_taking *taking);
void import_taken_end(import_taking *taking);

bool import_settle(import_run *run, import_done *done);

/* told.c: what results holds of one answer, and of all. */
typedef struct import_held {
  bool errored, verdict, ranged;
  double value;
} import_held;
void import_count(import_pair *pair, import_held held);
void import_uncount(import_run *run);
/* Counts results anew, where it had rows before. */
bool import_recount(import_run *run, import_done *done);
/* Models and tasks, where all rows are of this import. */
bool import_count_names(import_run *run, import_done *done);
/* Makes temp.import_told. */
bool import_tell(import_run *run);

/* Runs SQL on the person's database; false after leaving a message. */
bool import_exec(import_run *run, const char *format, ...);
bool import_prepare(import_run *run, sqlite3_stmt **out, const char *format, ...);
bool import_db_failed(import_run *run);
/* Whether a table of the person's database has a column. */
bool import_has_column(import_run *run, const char *table, const char *column);

/*
** names.c
*/

/* Before a file is read; after that; after the last. */
bool import_names_begin(import_run *run, const import_file *file);
bool import_names_end(import_run *run, import_file *file);
bool import_names_check(import_run *run);
/* Runs a statement of the scratch database with texts for ?1 and so on; the first column of its
** row, or NULL, for sqlite3_free(). */
bool import_ask(import_run *run, const import_file *file, const char *sql, const char *const *texts,
                int count, char **out);

/* formats.c: what a file is; NULL if nobody knows. */
const import_format *import_detect(import_run *run, import_file *file);
/* Kind and outline; false after leaving a message. */
bool import_look(import_run *run, import_file *file);
char *import_outline_zip(import_run *run, const import_file *file);
char *import_outline_database(import_run *run, const import_file *file);

#endif
