/*
** Reads catalogue.txt, the list of every function, for the tests in C.
*/
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

enum {
  CATALOGUE_FUNCTIONS = 200,
  CATALOGUE_ARGUMENTS = 120,
  CATALOGUE_ARITY = 8, /* the most arguments that a function takes */
};

/* The values that an argument takes. */
typedef enum argument_class {
  ARG_RESULT,
  ARG_PART,
  ARG_SIZE,
  ARG_CELL,
  ARG_LEVEL,
  ARG_POSITIVE,
  ARG_KEY,
  ARG_LABEL,
  ARG_CI,
  ARG_REAL,
  ARG_WHOLE,
  ARG_WORD,
  ARG_OPTIONS,
  ARG_CLASSES
} argument_class;

typedef struct argument {
  char name[24];
  argument_class class;
  double least, most; /* of a real or whole number */
  char words[2][16];  /* of a word */
  char example[80];   /* in SQL */
} argument;

typedef enum result_class {
  RESULT_SHARE,
  RESULT_DIFFERENCE,
  RESULT_RATIO,
  RESULT_INTERVAL,
  RESULT_PROBABILITY,
  RESULT_NUMBER,
  RESULT_LENGTH,
  RESULT_WHOLE,
  RESULT_TEXT,
  RESULT_ROWS,
  RESULT_BOARD,
  RESULT_CLASSES
} result_class;

/* The allowed error of a number. */
typedef struct tolerance {
  double size; /* 0 if none is stated */
  bool relative;
} tolerance;

typedef struct function {
  char name[40];
  char kind; /* 'a' aggregate, 's' scalar, 't' table */
  result_class result;
  double cost, most;
  char holds[8];
  tolerance slack, bar;
  int count;   /* the number of all arguments */
  int columns; /* the number of required ones */
  const argument *arguments[CATALOGUE_ARITY];
  int arities[CATALOGUE_ARITY], arity_count;
} function;

/* The list, and the SQL that makes the table of the examples. */
typedef struct catalogue {
  argument arguments[CATALOGUE_ARGUMENTS];
  function functions[CATALOGUE_FUNCTIONS];
  int argument_count, function_count;
  char *table;
} catalogue;

/* Whether a call takes so long that tests make only a few. */
static inline bool function_is_slow(const function *f) {
  return f->cost >= 100;
}

static inline bool function_holds(const function *f, char property) {
  return strchr(f->holds, property) != NULL;
}

static inline bool result_is_interval(result_class result) {
  return result <= RESULT_INTERVAL;
}

/* The range of a result. */
static inline double result_least(result_class result) {
  static const double least[RESULT_CLASSES] = {0, -1, 0, -HUGE_VAL, 0, -HUGE_VAL, 0, 1};
  return least[result];
}

static inline double result_most(result_class result) {
  static const double most[RESULT_CLASSES] = {1, 1,        HUGE_VAL, HUGE_VAL,
                                              1, HUGE_VAL, HUGE_VAL, 0x1p53};
  return most[result];
}

static inline void catalogue_wrong(const char *line) {
  fprintf(stderr, "tests/catalogue.txt: cannot read this line: %s\n", line);
  exit(2);
}

/* The index of a name among the names; exits if it is not one of them. */
static inline int catalogue_index(const char *name, const char *const *names, int count,
                                  const char *line) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  catalogue_wrong(line);
  return -1;
}

static inline const argument *catalogue_argument(const catalogue *c, const char *name) {
  for (int i = 0; i < c->argument_count; i++)
    if (strcmp(c->arguments[i].name, name) == 0) return &c->arguments[i];
  return NULL;
}

static inline void catalogue_read_argument(catalogue *c, const char *line) {
  static const char *const classes[ARG_CLASSES] = {"result",   "part", "size",   "cell", "level",
                                                   "positive", "key",  "label",  "ci",   "real",
                                                   "whole",    "word", "options"};
  argument *a = &c->arguments[c->argument_count++];
  char class[40];
  if (c->argument_count == CATALOGUE_ARGUMENTS ||
      sscanf(line, "argument %23s %39s %79[^\n]", a->name, class, a->example) != 3)
    catalogue_wrong(line);
  char *range = strchr(class, ':');
  if (range) *range++ = 0;
  a->class = (argument_class)catalogue_index(class, classes, ARG_CLASSES, line);
  bool read = !range;
  if (a->class == ARG_REAL || a->class == ARG_WHOLE)
    read = range && sscanf(range, "%lf:%lf", &a->least, &a->most) == 2;
  if (a->class == ARG_WORD)
    read = range && sscanf(range, "%15[^:]:%15s", a->words[0], a->words[1]) >= 1;
  if (!read) catalogue_wrong(line);
}

static inline tolerance catalogue_tolerance(const char *text) {
  char *rest;
  double size = strtod(text, &rest);
  return (tolerance){size, *rest == 'r'};
}

/* Reads the names between the parentheses; each bracket begins an option. */
static inline void catalogue_read_signature(catalogue *c, function *f, char *signature,
                                            const char *line) {
  static const char between[] = "(), \n";
  snprintf(f->name, sizeof f->name, "%.*s", (int)strcspn(signature, "("), signature);
  char *at = signature + strcspn(signature, "(");
  while (*(at += strspn(at, between)) && *at != ']') {
    if (*at == '[') {
      f->arities[f->arity_count++] = f->count;
      at++;
      continue;
    }
    size_t length = strcspn(at, "(), []\n");
    char name[24];
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    at += length;
    if (f->count == CATALOGUE_ARITY || !(f->arguments[f->count++] = catalogue_argument(c, name)))
      catalogue_wrong(line);
  }
  f->arities[f->arity_count++] = f->count;
  f->columns = f->arities[0];
}

static inline void catalogue_read_function(catalogue *c, const char *line) {
  static const char *const results[RESULT_CLASSES] = {
      "share",  "difference", "ratio", "interval", "probability", "number",
      "length", "whole",      "text",  "rows",     "board"};
  function *f = &c->functions[c->function_count++];
  char result[20], most[20], slack[20], bar[20], signature[200];
  if (c->function_count == CATALOGUE_FUNCTIONS ||
      sscanf(line, "function %c %19s %lf %19s %7s %19s %19s %199[^\n]", &f->kind, result, &f->cost,
             most, f->holds, slack, bar, signature) != 8)
    catalogue_wrong(line);
  f->result = (result_class)catalogue_index(result, results, RESULT_CLASSES, line);
  f->most = strtod(most, NULL);
  f->slack = catalogue_tolerance(slack);
  f->bar = catalogue_tolerance(bar);
  catalogue_read_signature(c, f, signature, line);
}

static inline char *catalogue_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 16);
  if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) {
    fprintf(stderr, "cannot read %s; tests run at the top of the tree\n", path);
    exit(2);
  }
  fclose(file);
  return text;
}

/* The catalogue, to be freed with catalogue_free. */
static inline catalogue *catalogue_read(void) {
  catalogue *c = calloc(1, sizeof *c);
  if (!c) exit(2);
  char *text = catalogue_text("tests/catalogue.txt");
  c->table = catalogue_text("tests/catalogue.sql");
  for (char *line = text, *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    if (*end) *end++ = 0;
    if (strncmp(line, "argument ", 9) == 0) catalogue_read_argument(c, line);
    if (strncmp(line, "function ", 9) == 0) catalogue_read_function(c, line);
  }
  free(text);
  return c;
}

static inline void catalogue_free(catalogue *c) {
  free(c->table);
  free(c);
}

static inline const function *catalogue_function(const catalogue *c, const char *name) {
  for (int i = 0; i < c->function_count; i++)
    if (strcmp(c->functions[i].name, name) == 0) return &c->functions[i];
  return NULL;
}

/* A call with this number of arguments: the columns c0, c1, ... if `column` is "c", examples if it
** is NULL; to be freed with sqlite3_free. */
static inline char *function_call(const function *f, int arity, const char *column) {
  sqlite3_str *sql = sqlite3_str_new(NULL);
  sqlite3_str_appendf(sql, "%s(", f->name);
  for (int i = 0; i < arity; i++) {
    if (i) sqlite3_str_appendall(sql, ", ");
    if (column)
      sqlite3_str_appendf(sql, "%s%d", column, i);
    else
      sqlite3_str_appendall(sql, f->arguments[i]->example);
  }
  sqlite3_str_appendall(sql, ")");
  char *call = sqlite3_str_finish(sql);
  if (!call) exit(2);
  return call;
}

#endif
