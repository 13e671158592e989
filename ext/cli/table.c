/*
** A table as aligned text.
**
** 1. Collect the rows, since the layout depends on the widest cell of each column.
** 2. Columns of numbers keep their width; the widest others are narrowed until the table fits,
**    and their texts are wrapped, so that nothing is left out.
** 3. Where not even that fits, each row is printed as lines of a heading and a cell.
*/
#include <string.h>

#include "cli.h"

enum { GAP = 2, NARROWEST = 8 };

struct cli_table {
  int columns;
  char **names;
  char **cells; /* row by row; NULL for NULL */
  size_t rows, room;
};

void cli_free_table(cli_table *t) {
  if (!t) return;
  for (int i = 0; i < t->columns; i++) sqlite3_free(t->names[i]);
  for (size_t i = 0; i < t->rows * (size_t)t->columns; i++) sqlite3_free(t->cells[i]);
  sqlite3_free(t->names);
  sqlite3_free(t->cells);
  sqlite3_free(t);
}

size_t cli_table_rows(const cli_table *t) {
  return t->rows;
}

/* Copies text without line breaks and control characters. */
static char *clean_copy(const char *text) {
  char *copy = sqlite3_malloc64(strlen(text) + 1), *end = copy;
  while (copy && *text) {
    int columns;
    size_t size = cli_character(text, &columns);
    if (columns < 0)
      *end++ = ' ';
    else
      memcpy(end, text, size), end += size;
    text += size;
  }
  if (copy) *end = 0;
  return copy;
}

static bool name_columns(cli_table *t, sqlite3_stmt *rows) {
  int count = sqlite3_column_count(rows);
  t->names = sqlite3_malloc64((size_t)count * sizeof *t->names + 1);
  for (; t->names && t->columns < count; t->columns++) {
    const char *name = sqlite3_column_name(rows, t->columns);
    t->names[t->columns] = name ? clean_copy(name) : NULL;
    if (!t->names[t->columns]) return false;
  }
  return t->names;
}

static bool room_for_row(cli_table *t) {
  if (t->rows < t->room) return true;
  size_t room = t->room ? 2 * t->room : 64;
  char **cells = sqlite3_realloc64(t->cells, room * (size_t)t->columns * sizeof *cells);
  if (!cells) return false;
  t->cells = cells;
  t->room = room;
  return true;
}

static bool collect_row(cli_table *t, sqlite3_stmt *rows) {
  if (!room_for_row(t)) return false;
  char **row = t->cells + t->rows++ * (size_t)t->columns;
  memset(row, 0, (size_t)t->columns * sizeof *row);
  for (int i = 0; i < t->columns; i++) {
    if (sqlite3_column_type(rows, i) == SQLITE_NULL) continue;
    const char *text = (const char *)sqlite3_column_text(rows, i);
    row[i] = text ? clean_copy(text) : NULL;
    if (!row[i]) return false;
  }
  return true;
}

cli_table *cli_collect(sqlite3_stmt *rows) {
  cli_table *t = sqlite3_malloc64(sizeof *t);
  if (!t) return NULL;
  *t = (cli_table){0};
  int rc = name_columns(t, rows) ? SQLITE_ROW : SQLITE_NOMEM;
  while (rc == SQLITE_ROW && (rc = sqlite3_step(rows)) == SQLITE_ROW)
    if (!collect_row(t, rows)) rc = SQLITE_NOMEM;
  if (rc == SQLITE_DONE) return t;
  cli_free_table(t);
  return NULL;
}

static const char *cell_text(const cli_table *t, size_t row, int column) {
  const char *text = t->cells[row * (size_t)t->columns + (size_t)column];
  return text ? text : "";
}

const char *cli_table_noted(const cli_table *t, const char *part) {
  for (int i = 0; i < t->columns; i++)
    for (size_t j = 0; t->names[i][0] == '!' && j < t->rows; j++)
      if (strstr(cell_text(t, j, i), part)) return cell_text(t, j, i);
  return NULL;
}

const char *cli_table_first(const cli_table *t, const char *name) {
  int i = 0;
  while (strcmp(t->names[i], name) != 0) i++;
  return cell_text(t, 0, i);
}

/*
** Widths
*/
typedef struct cli_layout {
  int width;   /* 0: not shown */
  bool number; /* aligned right */
} cli_layout;

/* Numbers, shares and intervals, as "1,094", "80.0%" and "\u22121.9% to 20.2%". */
static bool looks_like_number(const char *text) {
  static const char *const parts[] = {"\u2212", "\u2013", " to "};
  while (*text) {
    size_t size = strspn(text, "0123456789.,%+-<>");
    for (int i = 0; i < 3 && !size; i++)
      if (strncmp(text, parts[i], strlen(parts[i])) == 0) size = strlen(parts[i]);
    if (!size) return false;
    text += size;
  }
  return true;
}

static const char *shown_name(const cli_table *t, int column) {
  return t->names[column] + (t->names[column][0] == '?');
}

static cli_layout column_layout(const cli_table *t, int column) {
  cli_layout l = {0, true};
  for (size_t i = 0; i < t->rows; i++) {
    const char *text = cell_text(t, i, column);
    int wide = cli_text_columns(text);
    if (wide > l.width) l.width = wide;
    l.number = l.number && looks_like_number(text);
  }
  if (t->names[column][0] == '!' || (t->names[column][0] == '?' && l.width == 0))
    return (cli_layout){0};
  int head = cli_text_columns(shown_name(t, column));
  if (head > l.width) l.width = head;
  return l;
}

/* For sqlite3_free(); NULL without memory. */
static cli_layout *layout_columns(const cli_table *t) {
  cli_layout *layout = sqlite3_malloc64(((size_t)t->columns + 1) * sizeof *layout);
  for (int i = 0; layout && i < t->columns; i++) layout[i] = column_layout(t, i);
  return layout;
}

/* Narrows the widest text column by one, until the table fits; false if it cannot. */
static bool fit_layout(cli_layout *layout, int count, int columns) {
  int sum = -GAP;
  for (int i = 0; i < count; i++) sum += layout[i].width ? layout[i].width + GAP : 0;
  while (sum > columns) {
    int widest = -1;
    for (int i = 0; i < count; i++)
      if (!layout[i].number && layout[i].width > NARROWEST &&
          (widest < 0 || layout[i].width > layout[widest].width))
        widest = i;
    if (widest < 0) return false;
    layout[widest].width--;
    sum--;
  }
  return true;
}

/*
** Printing
*/

/* The bytes of a text that fit in this many columns, broken after a word if possible. */
static size_t fitting_size(const char *text, int width) {
  size_t size = 0, word = 0;
  for (int used = 0; text[size];) {
    int columns;
    size_t more = cli_character(text + size, &columns);
    used += columns;
    if (used > width && text[size] != ' ') return word ? word : size ? size : more;
    size += more;
    if (strchr(" -_/:@", text[size - 1])) word = size;
  }
  return size;
}

static void add_padded(sqlite3_str *line, const char *text, size_t size, const cli_layout *l) {
  char *part = sqlite3_mprintf("%.*s", (int)size, text);
  int pad = l->width - (part ? cli_text_columns(part) : 0);
  if (l->number && pad > 0) sqlite3_str_appendchar(line, pad, ' ');
  if (part) sqlite3_str_appendall(line, part);
  if (!l->number && pad > 0) sqlite3_str_appendchar(line, pad, ' ');
  sqlite3_free(part);
}

/* Prints a line without the spaces at its end. */
static void put_line(FILE *to, sqlite3_str *line) {
  int size = sqlite3_str_length(line);
  const char *text = sqlite3_str_value(line);
  while (size > 0 && text[size - 1] == ' ') size--;
  fprintf(to, "%.*s\n", size, size ? text : "");
  sqlite3_free(sqlite3_str_finish(line));
}

/* Prints one row, in as many lines as its longest text needs; `left` is the text still to be
** printed. */
static void print_row(FILE *to, const cli_layout *layout, int count, const char **left) {
  for (bool more = true; more;) {
    sqlite3_str *line = sqlite3_str_new(NULL);
    more = false;
    for (int i = 0; i < count; i++) {
      if (!layout[i].width) continue;
      size_t size = fitting_size(left[i], layout[i].width);
      if (sqlite3_str_length(line) > 0) sqlite3_str_appendchar(line, GAP, ' ');
      add_padded(line, left[i], size, &layout[i]);
      left[i] += size;
      more |= *left[i] != 0;
    }
    put_line(to, line);
  }
}

static void print_rule(FILE *to, const cli_layout *layout, int count) {
  sqlite3_str *line = sqlite3_str_new(NULL);
  for (int i = 0; i < count; i++) {
    if (layout[i].width && sqlite3_str_length(line) > 0) sqlite3_str_appendchar(line, GAP, ' ');
    for (int j = 0; j < layout[i].width; j++) sqlite3_str_appendall(line, "\u2500");
  }
  put_line(to, line);
}

static void print_rows_of_table(const cli_table *t, FILE *to, const cli_layout *layout,
                                const char **left) {
  bool colour = cli_has_colour(to);
  for (int i = 0; i < t->columns; i++) left[i] = shown_name(t, i);
  if (colour) fputs("\033[1m", to);
  print_row(to, layout, t->columns, left);
  if (colour) fputs("\033[0m", to);
  print_rule(to, layout, t->columns);
  for (size_t i = 0; i < t->rows; i++) {
    for (int j = 0; j < t->columns; j++) left[j] = cell_text(t, i, j);
    print_row(to, layout, t->columns, left);
  }
}

/* Prints each row as lines of a heading and a cell, for terminals too narrow for the table. */
static void print_records(const cli_table *t, FILE *to, const cli_layout *layout, int columns) {
  cli_layout pair[2] = {{0, false}, {0, false}};
  for (int i = 0; i < t->columns; i++) {
    int width = layout[i].width ? cli_text_columns(shown_name(t, i)) : 0;
    if (width > pair[0].width) pair[0].width = width;
  }
  pair[1].width = columns - pair[0].width - GAP;
  if (pair[1].width < NARROWEST) pair[1].width = NARROWEST;
  for (size_t i = 0; i < t->rows; i++) {
    if (i) fputc('\n', to);
    for (int j = 0; j < t->columns; j++) {
      const char *left[] = {shown_name(t, j), cell_text(t, i, j)};
      if (layout[j].width && *left[1]) print_row(to, pair, 2, left);
    }
  }
}

bool cli_print_table(const cli_table *t, FILE *to, int columns) {
  cli_layout *layout = layout_columns(t);
  const char **left = sqlite3_malloc64(((size_t)t->columns + 1) * sizeof *left);
  bool ok = layout && left;
  if (ok && columns && !fit_layout(layout, t->columns, columns))
    print_records(t, to, layout, columns);
  else if (ok)
    print_rows_of_table(t, to, layout, left);
  sqlite3_free(layout);
  sqlite3_free(left);
  return ok;
}

/*
** Markdown
*/

/* Writes text on one line, escaped for Markdown and HTML. */
static void put_escaped(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      fputs("&lt;", to);
    else
      fprintf(to, strchr("|\\`*_[", *text) ? "\\%c" : "%c", *text);
  }
}

/* Writes the headings, or a row. */
static void put_markdown_row(const cli_table *t, FILE *to, const cli_layout *layout, size_t row) {
  for (int i = 0; i < t->columns; i++) {
    if (!layout[i].width) continue;
    fputs("| ", to);
    put_escaped(to, row < t->rows ? cell_text(t, row, i) : shown_name(t, i));
    fputc(' ', to);
  }
  fputs("|\n", to);
}

bool cli_print_markdown(const cli_table *t, FILE *to) {
  cli_layout *layout = layout_columns(t);
  if (!layout) return false;
  put_markdown_row(t, to, layout, t->rows);
  for (int i = 0; i < t->columns; i++)
    if (layout[i].width) fputs(layout[i].number ? "|---:" : "|---", to);
  fputs("|\n", to);
  for (size_t i = 0; i < t->rows; i++) put_markdown_row(t, to, layout, i);
  sqlite3_free(layout);
  return true;
}
