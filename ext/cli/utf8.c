/*
** The number of columns that text takes on a terminal.
*/
#include "cli.h"

typedef struct cli_span {
  unsigned from, to;
} cli_span;

/* Combining marks, and characters two columns wide: the blocks of Unicode 15 that names are
** likely to use. */
static const cli_span mark_spans[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
                                      {0x610, 0x61a},   {0x64b, 0x65f},   {0x200b, 0x200f},
                                      {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
static const cli_span wide_spans[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                                      {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                      {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                      {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

/* Control characters, and invisible characters that change the direction of text or its format.
** Joiners (0x200c, 0x200d) are not among them: scripts and emoji need them. */
static const cli_span control_spans[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},
                                         {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200b},
                                         {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                                         {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

static bool is_among(const cli_span *spans, size_t count, unsigned code) {
  for (size_t i = 0; i < count; i++)
    if (code >= spans[i].from && code <= spans[i].to) return true;
  return false;
}
#define IS_AMONG(spans, code) is_among(spans, sizeof(spans) / sizeof *(spans), code)

/* The code point of a character of several bytes; 0 if it is invalid. */
static unsigned decode(const unsigned char *at, size_t size) {
  unsigned code = at[0] & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (at[i] & 0x3fu);
  }
  unsigned least = size == 2 ? 0x80 : size == 3 ? 0x800 : 0x10000;
  return code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : code;
}

size_t cli_character(const char *text, int *columns) {
  const unsigned char *at = (const unsigned char *)text;
  size_t size = at[0] < 0xc0 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf8 ? 4 : 1;
  unsigned code = size == 1 ? at[0] : decode(at, size);
  *columns = -1;
  if (size > 1 && code == 0) return 1;
  if (IS_AMONG(control_spans, code) || (size == 1 && code >= 0x80)) return size;
  *columns = IS_AMONG(mark_spans, code) ? 0 : IS_AMONG(wide_spans, code) ? 2 : 1;
  return size;
}

int cli_text_columns(const char *text) {
  int sum = 0;
  for (int columns; *text;) {
    text += cli_character(text, &columns);
    sum += columns < 0 ? 1 : columns;
  }
  return sum;
}
