/*
** Private to the picture functions: picture.c gathers rows and hands them to
** forest.c or heatmap.c, which draw with what svg.c offers.
*/
#ifndef EVALCI_SVG_H
#define EVALCI_SVG_H

#include "surface.h"

/* One row of a picture: its labels and numbers; NAN where there is no number. */
typedef struct evalci_mark {
  char *labels[2];          /* sqlite3_malloc'ed, cleaned; the second may be NULL */
  sqlite3_uint64 values[2]; /* hashes of the values they were made from, to tell them apart */
  double numbers[3];
} evalci_mark;

/* The options of a picture; NULL and NAN where they are not given. */
typedef struct evalci_drawing {
  char *title, *axis; /* sqlite3_malloc'ed, cleaned as labels are */
  const char *unit;   /* "%" or "" */
  bool logarithmic;
  double from, to, line;
} evalci_drawing;

/* The description of one kind of picture. */
typedef struct evalci_picture {
  const char *arguments[4];
  bool plain_options;  /* takes only title and axis */
  int labels;          /* the number of labels among the arguments; they come first */
  int most;            /* the maximum number of rows */
  const char *instead; /* the remedy in the message when there are more */
  /* Reads the arguments that are not labels; false after leaving a message. */
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
char *evalci_clean_to(const char *text, size_t bytes, int most); /* maximum number of characters */

/* Writes text with <, >, &, " and ' escaped for XML and HTML. */
void evalci_append_escaped(sqlite3_str *out, const char *text, size_t size);

/* A value as a label.  NULL when there is no memory. */
char *evalci_label(sqlite3_value *value);
sqlite3_uint64 evalci_hash(sqlite3_value *value);

/* The width of a label in ems, estimated a little too wide, since no font can be measured here;
** at most `most`, the width at which labels are cut. */
double evalci_label_width(const char *label, double most);

/* Writes the label, cut to a width, with its whole text in a tooltip if it was cut.  `head` of
** the bytes kept are its beginning, the others its end. */
void evalci_append_label(sqlite3_str *out, const char *label, double most, double head);

/* The rows of a forest, which has the most labels of all pictures. */
enum { EVALCI_MOST_LABELS = 1000 };

/* How much of a cut label is kept at its beginning so that no two labels look the same: half,
** since names differ at their ends as often as at their beginnings, unless another share tells
** them apart. */
double evalci_head_of(const char *const *labels, int count, double most);

/* Writes x with `digits` after the point, and no minus before a zero.  Not by appendf, whose
** rounding differs between versions of SQLite. */
void evalci_append_fixed(sqlite3_str *out, double x, int digits);

/* The same for people: with a real minus sign instead of a hyphen. */
void evalci_append_number(sqlite3_str *out, double x, int digits);

/* Writes a coordinate as an attribute. */
void evalci_append_at(sqlite3_str *out, const char *name, double x);

/* Opens a text element with its class, quoted, and further attributes. */
void evalci_open_text(sqlite3_str *out, const char *attributes, double x, double y);
void evalci_close_text(sqlite3_str *out);

/* Opens a document of this size: its description, colours for light and dark, background. */
void evalci_open_svg(sqlite3_str *out, double width, double height, const char *description);

/* Draws the title, if there is one, above a picture of that width, and returns its height. */
double evalci_title_height(const evalci_drawing *options);
void evalci_draw_title(sqlite3_str *out, const evalci_drawing *options, double left, double width);
void evalci_close_svg(sqlite3_str *out);

#endif
