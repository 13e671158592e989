/*
** Private to the picture functions: picture.c gathers rows and hands them to
** forest.c or heatmap.c, which draw with what svg.c offers.
*/
#ifndef EVALCI_SVG_H
#define EVALCI_SVG_H

#include "surface.h"

/* One row of a picture: its labels, and its numbers; NAN where there is none. */
typedef struct evalci_mark {
  char *labels[2];          /* sqlite3_malloc'ed, cleaned; the second may be NULL */
  sqlite3_uint64 values[2]; /* what they were made from, hashed, to tell them apart */
  double numbers[3];
} evalci_mark;

/* What the options of a picture say; NULL and NAN where they say nothing. */
typedef struct evalci_drawing {
  char *title, *axis; /* sqlite3_malloc'ed, cleaned as labels are */
  const char *unit;   /* "%" or "" */
  bool logarithmic;
  double from, to, line;
} evalci_drawing;

/* What is particular to one picture. */
typedef struct evalci_picture {
  const char *arguments[4];
  bool plain_options;  /* title and axis alone */
  int labels;          /* how many of them are labels; they come first */
  int most;            /* rows it can hold */
  const char *instead; /* what to do with more */
  /* Reads what is not a label into numbers; false after leaving a message. */
  bool (*read)(evalci_call *call, sqlite3_value **argv, double *numbers);
  /* Writes the document; false after leaving a message. */
  bool (*draw)(evalci_call *call, const evalci_drawing *options, const evalci_mark *marks,
               int count, sqlite3_str *out);
} evalci_picture;

/* drawing.c: reads options, a flat object of JSON; false after leaving a message.  What
** was read is freed by evalci_free_drawing in either case. */
bool evalci_read_drawing(evalci_call *call, bool plain, sqlite3_value *value, evalci_drawing *out);
void evalci_free_drawing(evalci_drawing *drawing);

/* svg.c */

/* Text as a label: well-formed UTF-8 without control characters, and of a bounded
** length.  NULL when there is no memory. */
char *evalci_clean(const char *text, size_t bytes);
char *evalci_clean_to(const char *text, size_t bytes, int most); /* so many characters */

/* Text with <, >, &, " and ' as XML and HTML write them. */
void evalci_append_escaped(sqlite3_str *out, const char *text, size_t size);

/* A value as a label.  NULL when there is no memory. */
char *evalci_label(sqlite3_value *value);
sqlite3_uint64 evalci_hash(sqlite3_value *value);

/* The width of a label in ems, a little on the safe side, since no font is at
** hand to measure by; at most `most`, which is where labels are cut. */
double evalci_label_width(const char *label, double most);

/* The label, cut to a width, with its whole text in a tooltip when it was.  `head` of
** what is kept of it are its beginning and the rest its end. */
void evalci_append_label(sqlite3_str *out, const char *label, double most, double head);

/* The rows of a forest, which has the most labels of all pictures. */
enum { EVALCI_MOST_LABELS = 1000 };

/* How much of labels to keep at their beginning so that no two of them read the same:
** a half, since names differ at their ends as often as at their beginnings, unless less
** or more tells them apart. */
double evalci_head_of(const char *const *labels, int count, double most);

/* x with so many digits after the point, and no minus before a zero.  Not by
** appendf, whose rounding differs from one SQLite to the next. */
void evalci_append_fixed(sqlite3_str *out, double x, int digits);

/* The same for people: with a minus that is no hyphen. */
void evalci_append_number(sqlite3_str *out, double x, int digits);

/* A coordinate, as an attribute. */
void evalci_append_at(sqlite3_str *out, const char *name, double x);

/* Opens a text with its class, quoted, and what attributes follow it. */
void evalci_open_text(sqlite3_str *out, const char *attributes, double x, double y);
void evalci_close_text(sqlite3_str *out);

/* Opens a document of such a size: its description, its colours in light and
** in dark, its ground. */
void evalci_open_svg(sqlite3_str *out, double width, double height, const char *description);

/* The title above a picture of that width, where there is one: draws it, and returns the
** height that it takes. */
double evalci_title_height(const evalci_drawing *options);
void evalci_draw_title(sqlite3_str *out, const evalci_drawing *options, double left, double width);
void evalci_close_svg(sqlite3_str *out);

#endif
