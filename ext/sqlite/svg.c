/*
** Shared by the pictures: labels made from any text, and the frame of a document that works
** both as a file and inside a page.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

enum { MOST_CHARACTERS = 300 };
static const char REPLACEMENT[] = "\xEF\xBF\xBD", ELLIPSIS[] = "\xE2\x80\xA6";

/* Decodes one character of text that ends at `end`: its code point and length, or -1 and 1 where
** it is not UTF-8. */
typedef struct character {
  long code;
  int size;
} character;

static character character_at(const char *text, const char *end) {
  const unsigned char *c = (const unsigned char *)text;
  int size = c[0] < 0x80 ? 1 : c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
  if (size == 1) return (character){c[0], 1};
  static const unsigned char first[] = {0, 0, 0x1F, 0x0F, 0x07};
  static const long least[] = {0, 0, 0x80, 0x800, 0x10000};
  long code = c[0] & first[size];
  if (c[0] < 0xC0 || c[0] > 0xF7 || end - text < size) return (character){-1, 1};
  for (int i = 1; i < size; i++) {
    if ((c[i] & 0xC0) != 0x80) return (character){-1, 1};
    code = code << 6 | (c[i] & 0x3F);
  }
  if (code < least[size] || code > 0x10FFFF) return (character){-1, 1};
  return (character){code, size};
}

/* Characters that XML cannot represent. */
static bool is_forbidden(long code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0xD800 && code < 0xE000) ||
         (code & 0xFFFE) == 0xFFFE;
}

char *evalci_clean(const char *text, size_t bytes) {
  return evalci_clean_to(text, bytes, MOST_CHARACTERS);
}

char *evalci_clean_to(const char *text, size_t bytes, int most) {
  /* A character takes at most four bytes, and a byte may become three. */
  char *label = sqlite3_malloc(4 * most + (int)sizeof ELLIPSIS), *out = label;
  if (!label) return NULL;
  const char *c = text, *end = text + bytes;
  for (int i = 0; i < most && c < end; i++) {
    character here = character_at(c, end);
    bool space = here.code == '\n' || here.code == '\t' || here.code == '\r';
    const char *kept = space ? " " : is_forbidden(here.code) ? REPLACEMENT : c;
    size_t size = kept == c ? (size_t)here.size : strlen(kept);
    memcpy(out, kept, size);
    out += size;
    c += here.size;
  }
  strcpy(out, c < end ? ELLIPSIS : "");
  return label;
}

char *evalci_label(sqlite3_value *value) {
  const char *text = (const char *)sqlite3_value_text(value);
  if (!text && sqlite3_value_type(value) != SQLITE_NULL) return NULL;
  return text ? evalci_clean(text, (size_t)sqlite3_value_bytes(value)) : evalci_clean("", 0);
}

/* A hash of a value's bytes and type. */
sqlite3_uint64 evalci_hash(sqlite3_value *value) {
  sqlite3_uint64 seed = EVALCI_HASH + (unsigned)sqlite3_value_type(value);
  const char *text = (const char *)sqlite3_value_text(value);
  return evalci_hash_bytes(seed, text ? text : "", text ? (size_t)sqlite3_value_bytes(value) : 0);
}

/* The width of one character in ems: the widest of the common sans-serif fonts. */
static double character_width(long code) {
  static const char narrow[] = "!'(),-./:;I[]fijlrt`{|} ", wide[] = "%@MWmw";
  if (code < 0x80) {
    if (strchr(narrow, (int)code)) return 0.42;
    if (strchr(wide, (int)code)) return 1.02;
    return code >= 'A' && code <= 'Z' ? 0.8 : 0.64;
  }
  /* Joiners and combining marks have no width; characters beyond Latin, Greek and Cyrillic may
  ** be as wide as they are high, and emoji wider. */
  if ((code >= 0x300 && code < 0x370) || (code >= 0x200B && code < 0x2010) ||
      (code >= 0xFE00 && code < 0xFE10))
    return 0;
  return code < 0x590 ? 0.85 : code < 0x1F000 ? 1.1 : 1.4;
}

/* How many bytes of the label fit in `most` ems, and how wide they are. */
static size_t fitting(const char *label, double most, double *width) {
  const char *c = label, *end = label + strlen(label);
  *width = 0;
  while (c < end) {
    character here = character_at(c, end);
    double more = character_width(here.code);
    if (*width + more > most) break;
    *width += more;
    c += here.size;
  }
  return (size_t)(c - label);
}

/* The beginning of the longest end of the label that fits in `most` ems; it does not begin with
** a combining mark. */
static const char *fitting_end(const char *label, double most) {
  const char *end = label + strlen(label), *from = label;
  double whole, rest;
  fitting(label, HUGE_VAL, &whole);
  rest = whole;
  while (from < end) {
    character here = character_at(from, end);
    double width = character_width(here.code);
    if (rest <= most && width > 0) break;
    rest -= width;
    from += here.size;
  }
  return from;
}

double evalci_label_width(const char *label, double most) {
  double width;
  return label[fitting(label, most, &width)] ? most : width;
}

void evalci_append_escaped(sqlite3_str *out, const char *text, size_t size) {
  static const char special[] = "<>&\"'";
  static const char *const escaped[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
  for (const char *c = text; c < text + size; c++) {
    const char *found = strchr(special, *c);
    if (found)
      sqlite3_str_appendall(out, escaped[found - special]);
    else
      sqlite3_str_append(out, c, 1);
  }
}

/* The parts kept of a label that does not fit: its first bytes, and the text from `end` on. */
typedef struct cut {
  size_t bytes;
  const char *end;
} cut;

static cut cut_label(const char *label, double most, double head) {
  double room = most - character_width(0x2026), width;
  size_t bytes = fitting(label, head * room, &width);
  return (cut){bytes, fitting_end(label, room - width)};
}

void evalci_append_label(sqlite3_str *out, const char *label, double most, double head) {
  double width;
  size_t size = fitting(label, most, &width);
  if (!label[size]) {
    evalci_append_escaped(out, label, size);
    return;
  }
  sqlite3_str_appendall(out, "<title>");
  evalci_append_escaped(out, label, strlen(label));
  sqlite3_str_appendall(out, "</title>");
  cut kept = cut_label(label, most, head);
  evalci_append_escaped(out, label, kept.bytes);
  sqlite3_str_appendall(out, ELLIPSIS);
  evalci_append_escaped(out, kept.end, strlen(kept.end));
}

/* A hash of what a label looks like once cut; 0 when it is not cut. */
static sqlite3_uint64 reading_of(const char *label, double most, double head) {
  double width;
  if (!label[fitting(label, most, &width)]) return 0;
  cut kept = cut_label(label, most, head);
  sqlite3_uint64 hash = evalci_hash_bytes(kept.bytes + 1, label, kept.bytes);
  return evalci_hash_bytes(hash, kept.end, strlen(kept.end));
}

static bool any_alike(const char *const *labels, const sqlite3_uint64 *readings, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++)
      if (readings[i] && readings[i] == readings[j] && strcmp(labels[i], labels[j]) != 0)
        return true;
  return false;
}

double evalci_head_of(const char *const *labels, int count, double most) {
  static const double heads[] = {0.5, 0.25, 0.75};
  enum { HEADS = sizeof heads / sizeof *heads };
  sqlite3_uint64 readings[EVALCI_MOST_LABELS];
  for (int h = 0; h < HEADS; h++) {
    for (int i = 0; i < count; i++) readings[i] = reading_of(labels[i], most, heads[h]);
    if (!any_alike(labels, readings, count)) return heads[h];
  }
  return heads[0];
}

static void append_decimal(sqlite3_str *out, double x, int digits, const char *minus) {
  sqlite3_int64 power = 1;
  for (int i = 0; i < digits; i++) power *= 10;
  sqlite3_int64 scaled = llround(fmin(1e17, fabs(x) * (double)power));
  sqlite3_str_appendf(out, "%s%lld", x < 0 && scaled > 0 ? minus : "", scaled / power);
  if (digits > 0) sqlite3_str_appendf(out, ".%0*lld", digits, scaled % power);
}

void evalci_append_fixed(sqlite3_str *out, double x, int digits) {
  append_decimal(out, x, digits, "-");
}

void evalci_append_number(sqlite3_str *out, double x, int digits) {
  append_decimal(out, x, digits, "−");
}

void evalci_append_at(sqlite3_str *out, const char *name, double x) {
  sqlite3_str_appendf(out, " %s=\"", name);
  evalci_append_fixed(out, x, 1);
  sqlite3_str_appendall(out, "\"");
}

void evalci_open_text(sqlite3_str *out, const char *attributes, double x, double y) {
  sqlite3_str_appendf(out, "<text class=%s", attributes);
  evalci_append_at(out, "x", x);
  evalci_append_at(out, "y", y);
  sqlite3_str_appendall(out, ">");
}

void evalci_close_text(sqlite3_str *out) {
  sqlite3_str_appendall(out, "</text>\n");
}

/* The title is bold and 16 pixels high; bold is slightly wider. */
static const double TITLE_HEIGHT = 30, TITLE_EM = 17;

double evalci_title_height(const evalci_drawing *options) {
  return options->title ? TITLE_HEIGHT : 0;
}

void evalci_draw_title(sqlite3_str *out, const evalci_drawing *options, double left, double width) {
  if (!options->title) return;
  evalci_open_text(out, "\"ink title\"", left, TITLE_HEIGHT - 8);
  evalci_append_label(out, options->title, (width - 2 * left) / TITLE_EM, 0.5);
  evalci_close_text(out);
}

/* Blue and orange are told apart with any kind of colour vision.  Classes rather
** than variables, since not every viewer knows those. */
void evalci_open_svg(sqlite3_str *out, double width, double height, const char *description) {
  sqlite3_str_appendall(out,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"evalci\" role=\"img\" ");
  sqlite3_str_appendf(out, "viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n<title>",
                      (int)ceil(width), (int)ceil(height), (int)ceil(width), (int)ceil(height));
  evalci_append_escaped(out, description, strlen(description));
  sqlite3_str_appendall(out, "</title>\n");
  sqlite3_str_appendall(
      out,
      "<style>\n"
      ".evalci{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}\n"
      ".evalci .paper{fill:#fff}.evalci .ink{fill:#1b1f24}.evalci .soft{fill:#57606a}\n"
      ".evalci .grid{stroke:#d8dee4}.evalci .zero{stroke:#57606a}\n"
      ".evalci .bar{stroke:#0b5fa5;stroke-width:2.5}.evalci .dot{fill:#0b5fa5}\n"
      ".evalci .title{font-size:16px;font-weight:600}.evalci .cell{font-size:12px}\n"
      ".evalci .empty{fill:#eaeef2}\n"
      "@media (prefers-color-scheme:dark){\n"
      ".evalci .paper{fill:#14181d}.evalci .ink{fill:#e6edf3}.evalci .soft{fill:#9aa4af}\n"
      ".evalci .grid{stroke:#2f363d}.evalci .zero{stroke:#9aa4af}\n"
      ".evalci .bar{stroke:#7cc0ff}.evalci .dot{fill:#7cc0ff}.evalci .empty{fill:#222930}}\n"
      "</style>\n"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
}

void evalci_close_svg(sqlite3_str *out) {
  sqlite3_str_appendall(out, "</svg>\n");
}
