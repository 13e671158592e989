/*
** The bytes of a file, in pieces: from a file, from standard input, which is copied first so
** that it can be read twice, or from an entry of a zip archive.
**
** Text is UTF-8 and is checked to be; a byte order mark at its start is dropped.  If it is not, the
** message says which encoding it seems to be.
*/
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#ifdef _WIN32
#include <stdlib.h>
#include <windows.h>
#endif

#include "inside.h"

enum { STORED = 0, DEFLATED = 8, ZSTD = 93 };

struct import_unpack {
  unsigned method;
  uint64_t packed; /* compressed bytes left in the archive */
  uint64_t left;   /* bytes still to be unpacked, as the directory says */
  uint32_t crc;    /* of those that were, */
  uint32_t whole;  /* and of all, as the directory says */
  z_stream inflate;
  ZSTD_DStream *zstd;
  bool ended; /* the compressed data say that they end here */
  ZSTD_inBuffer in;
  unsigned char input[IMPORT_BUFFER];
};

/*
** Files
*/

#ifdef _WIN32
#define NANOSECONDS(about) 0
#elif defined __APPLE__
#define NANOSECONDS(about) (about).st_mtimespec.tv_nsec
#else
#define NANOSECONDS(about) (about).st_mtim.tv_nsec
#endif

bool import_is_file(const char *path, import_stamp *stamp) {
  struct stat about;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  if (stamp)
    *stamp = (import_stamp){(sqlite3_int64)about.st_size, (sqlite3_int64)about.st_mtime,
                            NANOSECONDS(about), (sqlite3_int64)about.st_dev,
                            (sqlite3_int64)about.st_ino};
  return true;
}

FILE *import_file_open(const char *path) {
#ifdef _WIN32
  wchar_t wide[32768];
  if (!MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 32768)) return NULL;
  return _wfopen(wide, L"rb");
#else
  return fopen(path, "rb");
#endif
}

/* A temporary file, which is deleted when it is closed. */
FILE *import_file_temporary(void) {
#ifdef _WIN32
  /* On Windows tmpfile() uses the root of the disk, where few users may write. */
  char *name = _tempnam(NULL, "evalci");
  FILE *file = name ? fopen(name, "w+bTD") : NULL;
  free(name);
  return file;
#else
  return tmpfile();
#endif
}

bool import_seek(FILE *file, sqlite3_int64 offset) {
#ifdef _WIN32
  return _fseeki64(file, offset, SEEK_SET) == 0;
#else
  return fseeko(file, (off_t)offset, SEEK_SET) == 0;
#endif
}

bool import_spool(import_run *run, FILE *from, import_source *source) {
  char piece[IMPORT_BUFFER];
  size_t got;
  source->spool = import_file_temporary();
  if (!source->spool) return import_fail(run, NULL, "standard input: there is no temporary file");
  while ((got = fread(piece, 1, sizeof piece, from)) > 0) {
    source->size += (sqlite3_int64)got;
    if (fwrite(piece, 1, got, source->spool) < got)
      return import_fail(run, NULL, "standard input: no room for a temporary file of %lld bytes",
                         source->size);
    if (!import_progress(run)) return false;
  }
  if (ferror(from)) return import_fail(run, NULL, "standard input cannot be read");
  return fflush(source->spool) == 0 ||
         import_fail(run, NULL, "standard input: no room for a temporary file");
}

/*
** Unpacking
*/

static bool is_broken(import_bytes *in, const char *how) {
  return import_fail(in->run, in->file, "this entry of the archive is damaged: %s", how);
}

/* Reads packed bytes; there may be none left. */
static bool refill_input(import_bytes *in, struct import_unpack *u) {
  size_t want = u->packed < sizeof u->input ? (size_t)u->packed : sizeof u->input;
  size_t got = want ? fread(u->input, 1, want, in->from) : 0;
  if (got < want) return is_broken(in, "it is cut short");
  u->packed -= got;
  u->in = (ZSTD_inBuffer){u->input, got, 0};
  return true;
}

static bool inflate_piece(import_bytes *in, struct import_unpack *u, size_t *got) {
  u->inflate.next_in = u->input + u->in.pos;
  u->inflate.avail_in = (unsigned)(u->in.size - u->in.pos);
  u->inflate.next_out = in->buffer;
  u->inflate.avail_out = sizeof in->buffer;
  int rc = inflate(&u->inflate, Z_NO_FLUSH);
  u->in.pos = u->in.size - u->inflate.avail_in;
  *got = sizeof in->buffer - u->inflate.avail_out;
  u->ended = rc == Z_STREAM_END;
  if (rc == Z_MEM_ERROR) return import_no_memory(in->run);
  return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ||
         is_broken(in, u->inflate.msg ? u->inflate.msg : "its data cannot be inflated");
}

static bool zstd_piece(import_bytes *in, struct import_unpack *u, size_t *got) {
  ZSTD_outBuffer out = {in->buffer, sizeof in->buffer, 0};
  size_t rc = ZSTD_decompressStream(u->zstd, &out, &u->in);
  *got = out.pos;
  if (ZSTD_isError(rc)) return is_broken(in, ZSTD_getErrorName(rc));
  u->ended = rc == 0 && u->in.pos == u->in.size && u->packed == 0;
  return true;
}

/* Reads as much as is available; nothing at the end, where all must be as the directory says. */
static bool unpack_piece(import_bytes *in, size_t *got) {
  struct import_unpack *u = in->unpack;
  *got = 0;
  while (*got == 0 && !u->ended) {
    if (u->in.pos == u->in.size && !refill_input(in, u)) return false;
    bool dry = u->in.pos == u->in.size;
    if (u->method == STORED) {
      memcpy(in->buffer, u->input, *got = u->in.size);
      u->in.pos = u->in.size;
      u->ended = u->packed == 0;
    } else if (!(u->method == ZSTD ? zstd_piece : inflate_piece)(in, u, got)) {
      return false;
    }
    if (dry && *got == 0 && !u->ended) return is_broken(in, "it is cut short");
  }
  if (*got > u->left) return is_broken(in, "it is longer than the directory says");
  u->left -= *got;
  u->crc = (uint32_t)crc32(u->crc, in->buffer, (unsigned)*got);
  if (u->ended && u->left > 0) return is_broken(in, "it is shorter than the directory says");
  return !u->ended || u->crc == u->whole ||
         is_broken(in, "its bytes do not have the checksum (CRC-32) that the directory says");
}

/*
** Text
*/

static bool is_not_text(import_bytes *in, const char *what, const char *convert) {
  return import_fail(in->run, in->file,
                     "this is %s, not UTF-8; convert it, as in iconv -f %s -t UTF-8", what,
                     convert);
}

static sqlite3_int64 line_of(const import_bytes *in, const unsigned char *at) {
  sqlite3_int64 line = in->line;
  for (const unsigned char *c = in->at; c < at; c++) line += *c == '\n';
  return line;
}

/* Guesses the encoding from the first bytes: a byte order mark, or every other byte zero. */
static bool check_start(import_bytes *in) {
  const unsigned char *b = in->at;
  size_t n = (size_t)(in->end - in->at);
  if (n >= 4 &&
      ((b[0] == 0xFF && b[1] == 0xFE && !b[2] && !b[3]) || (!b[0] && !b[1] && b[2] == 0xFE)))
    return is_not_text(in, "UTF-32", "UTF-32");
  if (n >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (n >= 4 && b[0] && !b[1] && b[2] && !b[3])))
    return is_not_text(in, "UTF-16", "UTF-16LE");
  if (n >= 2 && ((b[0] == 0xFE && b[1] == 0xFF) || (n >= 4 && !b[0] && b[1] && !b[2] && b[3])))
    return is_not_text(in, "UTF-16", "UTF-16BE");
  if (n >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF) in->at += 3;
  return true;
}

/* The number of bytes after the first of a character, and the range of the second; -1 if the
** first is invalid. */
static int begin_character(unsigned char c, unsigned char *lo, unsigned char *hi) {
  *lo = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
  *hi = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
  return c < 0x80 ? 0 : c < 0xC2 ? -1 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : c < 0xF5 ? 3 : -1;
}

static bool check_text(import_bytes *in) {
  static const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
  const unsigned char *c = in->at;
  while (c < in->end) {
    uint64_t eight;
    /* Skips eight bytes of ASCII at once. */
    while (!in->expected && in->end - c >= 8 && (memcpy(&eight, c, 8), !(eight & tops)) &&
           !((eight - ones) & ~eight & tops))
      c += 8;
    if (c == in->end) break;
    if (*c == 0)
      return import_fail(in->run, in->file, "line %lld: a zero byte; this is not text",
                         line_of(in, c));
    if (!in->expected) in->first = *c;
    int more = in->expected ? in->expected - 1 : begin_character(*c, &in->lo, &in->hi);
    if (more < 0 || (in->expected && (*c < in->lo || *c > in->hi)))
      return import_fail(
          in->run, in->file,
          "line %lld: byte 0x%02X is not UTF-8; the file seems to be Latin-1 (ISO 8859-1, "
          "Windows-1252); convert it, as in iconv -f WINDOWS-1252 -t UTF-8",
          line_of(in, c), in->first);
    if (in->expected) in->lo = 0x80, in->hi = 0xBF;
    in->expected = more;
    c++;
  }
  return true;
}

/*
** The stream
*/

static bool read_piece(import_bytes *in, size_t *got) {
  if (in->unpack) return unpack_piece(in, got);
  *got = fread(in->buffer, 1, sizeof in->buffer, in->from);
  return !ferror(in->from) || import_fail(in->run, in->file, "it cannot be read to its end");
}

bool import_bytes_fill(import_bytes *in) {
  size_t got = 0;
  bool first = in->offset == 0;
  if (in->failed) return false;
  in->failed = !read_piece(in, &got) || !import_progress(in->run);
  in->at = in->buffer;
  in->end = in->failed ? in->at : in->at + got;
  in->offset += (sqlite3_int64)got;
  if (!in->failed && got == 0 && in->expected)
    in->failed = !import_fail(in->run, in->file, "it ends within a character; is it cut short?");
  if (in->failed || got == 0) return false;
  if (in->text) in->failed = (first && !check_start(in)) || !check_text(in);
  if (in->failed) in->end = in->at;
  /* The file may consist of the mark alone. */
  return !in->failed && (in->at < in->end || import_bytes_fill(in));
}

static import_bytes *open_bytes(import_run *run, const import_file *file) {
  const import_source *source = file->source;
  import_bytes *in = sqlite3_malloc64(sizeof *in);
  if (!in) {
    import_no_memory(run);
    return NULL;
  }
  memset(in, 0, offsetof(import_bytes, buffer));
  in->run = run;
  in->file = file;
  in->line = 1;
  in->from = source->path ? import_file_open(source->path) : source->spool;
  if (in->from && !source->path) rewind(in->from);
  if (in->from) return in;
  import_fail(run, file, "it cannot be opened");
  import_bytes_close(in);
  return NULL;
}

import_bytes *import_bytes_open(import_run *run, const import_file *file, bool text) {
  import_bytes *in = open_bytes(run, file);
  if (in) in->text = text;
  return in;
}

/* The memory that zstd may use: 2^26 bytes. */
enum { WIDEST_WINDOW = 26 };

static bool start_zstd(import_bytes *in, struct import_unpack *u) {
  u->zstd = ZSTD_createDStream();
  if (!u->zstd) return import_no_memory(in->run);
  size_t rc = ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WIDEST_WINDOW);
  return !ZSTD_isError(rc) || is_broken(in, ZSTD_getErrorName(rc));
}

static bool start_unpacking(import_bytes *in, const char *name, const import_zip_entry *entry) {
  struct import_unpack *u = in->unpack = sqlite3_malloc64(sizeof *u);
  if (!u) return import_no_memory(in->run);
  memset(u, 0, offsetof(struct import_unpack, input));
  u->method = entry->method;
  u->packed = entry->packed;
  u->left = entry->size;
  u->whole = entry->crc;
  u->ended = entry->packed == 0;
  if (u->method == DEFLATED && inflateInit2(&u->inflate, -MAX_WBITS) != Z_OK)
    return import_no_memory(in->run);
  if (u->method == ZSTD && !start_zstd(in, u)) return false;
  if (entry->encrypted) return import_fail(in->run, in->file, "%s is encrypted", name);
  return u->method == STORED || u->method == DEFLATED || u->method == ZSTD ||
         import_fail(in->run, in->file,
                     "%s is compressed by method %u; evalci reads stored, deflated and zstd", name,
                     u->method);
}

import_bytes *import_bytes_entry(import_run *run, const import_file *file, const char *name) {
  const import_zip *zip = import_zip_of(run, file);
  const import_zip_entry *entry =
      zip ? import_map_at(zip->entries, name, strlen(name), false) : NULL;
  if (zip && !entry) import_fail(run, file, "there is no %s in it", name);
  import_bytes *in = entry ? open_bytes(run, file) : NULL;
  if (!in) return NULL;
  in->text = true;
  if (!import_seek(in->from, (sqlite3_int64)entry->offset))
    is_broken(in, "it cannot be read to its end");
  else if (start_unpacking(in, name, entry))
    return in;
  import_bytes_close(in);
  return NULL;
}

void import_bytes_close(import_bytes *in) {
  if (!in) return;
  if (in->unpack) {
    inflateEnd(&in->unpack->inflate);
    ZSTD_freeDStream(in->unpack->zstd);
  }
  sqlite3_free(in->unpack);
  if (in->from && in->file->source->path) fclose(in->from);
  sqlite3_free(in);
}
