/*
** Reads the directory of a zip archive, as APPNOTE.TXT of PKWARE describes it, with 64-bit
** sizes.
**
** 1. The end record is in the last 64 KB; an archive that is still being written has none.
** 2. It says where the directory is, unless the 64-bit end record before it does.
** 3. Read the directory, at most MOST_DIRECTORY bytes.  It must have as many entries as the end
**    record says, and each entry's local header its name.
** 4. The unpacked size is bounded, per entry and in total, since a few kilobytes can hold
**    terabytes. Entries may not overlap, since one of them could then be unpacked any number of
**    times.
*/
#include <string.h>

#include "inside.h"

enum {
  END_RECORD = 22,
  END_REACH = END_RECORD + 65535, /* with the longest comment */
  LOCATOR_64 = 20,
  END_64 = 56,
  ENTRY = 46,
  LOCAL = 30,
  MOST_NAME = 65535,
  MOST_DIRECTORY = 64 << 20
};

/* Limits for one entry, and for all if the archive is small: real logs shrink to a fiftieth. */
static const uint64_t most_entry = 1ull << 30, most_unpacked = 4ull << 30;
static const uint64_t most_ratio = 200;

static uint64_t number(const unsigned char *at, int bytes) {
  uint64_t x = 0;
  for (int i = bytes; i-- > 0;) x = x << 8 | at[i];
  return x;
}

static bool is_damaged(import_run *run, const import_file *file, const char *how) {
  return import_fail(run, file, "this is a zip archive that cannot be read: %s", how);
}

static bool read_at(FILE *from, uint64_t offset, void *out, size_t size) {
  return offset <= INT64_MAX && import_seek(from, (sqlite3_int64)offset) &&
         fread(out, 1, size, from) == size;
}

/* Finds the directory, its length and its number of entries. */
typedef struct directory {
  uint64_t offset, size, count;
} directory;

static bool read_end_64(import_run *run, const import_file *file, FILE *from, uint64_t end,
                        directory *out) {
  unsigned char locator[LOCATOR_64], record[END_64];
  if (end < LOCATOR_64 || !read_at(from, end - LOCATOR_64, locator, LOCATOR_64) ||
      number(locator, 4) != 0x07064b50)
    return true;
  if (!read_at(from, number(locator + 8, 8), record, END_64) || number(record, 4) != 0x06064b50)
    return is_damaged(run, file, "its 64-bit end record is missing");
  *out = (directory){number(record + 48, 8), number(record + 40, 8), number(record + 32, 8)};
  return true;
}

static bool find_directory(import_run *run, const import_file *file, FILE *from, directory *out) {
  uint64_t size = (uint64_t)file->source->size;
  size_t reach = size < END_REACH ? (size_t)size : END_REACH, at = reach;
  unsigned char *tail = sqlite3_malloc64(reach + 1);
  bool found = false;
  if (!tail) return import_no_memory(run);
  if (read_at(from, size - reach, tail, reach))
    for (at = reach < END_RECORD ? 0 : reach - END_RECORD + 1; at-- > 0 && !found;)
      found = number(tail + at, 4) == 0x06054b50;
  at++;
  if (found)
    *out = (directory){number(tail + at + 16, 4), number(tail + at + 12, 4),
                       number(tail + at + 10, 2)};
  sqlite3_free(tail);
  if (!found)
    return is_damaged(run, file,
                      "it has no directory at its end; is it still being written, or cut short?");
  if (!read_end_64(run, file, from, size - reach + at, out)) return false;
  if (out->offset > size || out->size > size - out->offset)
    return is_damaged(run, file, "its directory lies outside");
  return out->size <= MOST_DIRECTORY ||
         import_fail(run, file, "the archive's directory has %llu bytes; evalci reads at most %d",
                     (unsigned long long)out->size, MOST_DIRECTORY);
}

/* Sizes and offset that do not fit 32 bits are in an extra field. */
static void read_extra(import_zip_entry *e, const unsigned char *extra, size_t length) {
  while (length >= 4) {
    size_t size = (size_t)number(extra + 2, 2);
    if (size > length - 4) return;
    const unsigned char *at = extra + 4, *end = at + size;
    uint64_t *wide[] = {&e->size, &e->packed, &e->offset};
    for (int i = 0; number(extra, 2) == 1 && i < 3; i++)
      if (*wide[i] == 0xFFFFFFFF && end - at >= 8) *wide[i] = number(at, 8), at += 8;
    extra += 4 + size;
    length -= 4 + size;
  }
}

/* Reads an entry of the directory; returns its length there, or 0 if it is cut off. */
static size_t read_entry(const unsigned char *at, size_t left, import_zip_entry *e) {
  if (left < ENTRY || number(at, 4) != 0x02014b50) return 0;
  size_t name = (size_t)number(at + 28, 2), extra = (size_t)number(at + 30, 2);
  size_t length = ENTRY + name + extra + (size_t)number(at + 32, 2);
  if (length > left) return 0;
  *e = (import_zip_entry){.method = (unsigned)number(at + 10, 2),
                          .encrypted = number(at + 8, 2) & 1,
                          .crc = (uint32_t)number(at + 16, 4),
                          .packed = number(at + 20, 4),
                          .size = number(at + 24, 4),
                          .offset = number(at + 42, 4)};
  read_extra(e, at + ENTRY + name, extra);
  return length;
}

/* Moves the offset of an entry from its local header to its bytes. */
static bool pass_header(import_run *run, const import_file *file, FILE *from, const char *name,
                        size_t length, import_zip_entry *e) {
  unsigned char local[LOCAL + MOST_NAME];
  if (!read_at(from, e->offset, local, LOCAL + length) || number(local, 4) != 0x04034b50 ||
      number(local + 26, 2) != length || memcmp(local + LOCAL, name, length) != 0)
    return is_damaged(run, file, "an entry is not where its directory says");
  e->offset += LOCAL + length + number(local + 28, 2);
  return true;
}

static bool check_entries(import_run *run, const import_file *file, FILE *from,
                          const import_zip *zip) {
  uint64_t size = (uint64_t)file->source->size, packed = 0, unpacked = 0;
  for (size_t i = 0; i < zip->count; i++) {
    size_t length;
    import_zip_entry *e = import_map_entry(zip->entries, i);
    const char *name = import_map_name(zip->entries, i, &length);
    if (!pass_header(run, file, from, name, length, e)) return false;
    if (e->offset > size || e->packed > size - e->offset)
      return is_damaged(run, file, "an entry lies outside");
    if (e->size > most_entry)
      return import_fail(run, file, "%s unpacks to %llu bytes; evalci reads at most %llu", name,
                         (unsigned long long)e->size, (unsigned long long)most_entry);
    packed += e->packed;
    unpacked += e->size;
  }
  if (packed > size) return is_damaged(run, file, "its entries overlap");
  if (unpacked > most_unpacked && unpacked / most_ratio > size)
    return import_fail(
        run, file,
        "the archive of %llu bytes unpacks to %llu; evalci reads at most %llu times its size",
        (unsigned long long)size, (unsigned long long)unpacked, (unsigned long long)most_ratio);
  return true;
}

static bool read_entries(import_run *run, const import_file *file, FILE *from, directory d,
                         import_zip *zip) {
  unsigned char *bytes = sqlite3_malloc64(d.size + 1);
  bool ok = bytes || import_no_memory(run);
  size_t left = (size_t)d.size, length, count = 0;
  if (ok && !read_at(from, d.offset, bytes, left)) ok = is_damaged(run, file, "it is cut short");
  for (const unsigned char *at = bytes; ok && left > 0; at += length, left -= length, count++) {
    import_zip_entry e;
    length = read_entry(at, left, &e);
    if (!length) {
      ok = is_damaged(run, file, "its directory is cut short");
      break;
    }
    import_zip_entry *kept =
        import_map_at(zip->entries, at + ENTRY, (size_t)number(at + 28, 2), true);
    if (!kept)
      ok = import_no_memory(run);
    else
      *kept = e;
    zip->count = import_map_count(zip->entries);
  }
  sqlite3_free(bytes);
  /* Without 64-bit sizes the end record has the last two bytes of the number. */
  if (ok && (uint16_t)count != (uint16_t)d.count)
    ok = is_damaged(run, file, "its directory is cut short");
  return ok && check_entries(run, file, from, zip);
}

const import_zip *import_zip_of(import_run *run, const import_file *file) {
  import_source *source = file->source;
  if (source->zip) return source->zip;
  import_zip *zip = sqlite3_malloc64(sizeof *zip);
  FILE *from = source->path ? import_file_open(source->path) : source->spool;
  directory d = {0};
  if (zip) *zip = (import_zip){.entries = import_map_new(sizeof(import_zip_entry))};
  bool ok = (zip && zip->entries) || import_no_memory(run);
  if (ok && !from) ok = import_fail(run, file, "it cannot be opened");
  ok = ok && find_directory(run, file, from, &d) && read_entries(run, file, from, d, zip);
  if (from && source->path) fclose(from);
  if (ok)
    source->zip = zip;
  else
    import_zip_free(zip);
  return source->zip;
}

void import_zip_free(import_zip *zip) {
  if (zip) import_map_free(zip->entries);
  sqlite3_free(zip);
}

const char *import_entry(import_run *run, const import_file *file, int i) {
  const import_zip *zip = import_zip_of(run, file);
  return zip && i >= 0 && (size_t)i < zip->count ? import_map_name(zip->entries, (size_t)i, NULL)
                                                 : NULL;
}

/* Writes {"name":size,...} of the first entries, which identify the archive. */
char *import_outline_zip(import_run *run, const import_file *file) {
  const import_zip *zip = import_zip_of(run, file);
  import_buffer out = {0};
  bool ok = zip && import_append(run, &out, "{", 1);
  for (size_t i = 0; ok && i < zip->count && i < 1000; i++) {
    size_t length;
    const import_zip_entry *e = import_map_entry(zip->entries, i);
    const char *name = import_map_name(zip->entries, i, &length);
    char size[32];
    sqlite3_snprintf(sizeof size, size, ":%llu", (unsigned long long)e->size);
    ok = (i == 0 || import_append(run, &out, ",", 1)) &&
         import_append_quoted(run, &out, name, length) &&
         import_append(run, &out, size, strlen(size));
  }
  if (ok && import_append(run, &out, "}", 2)) return out.text;
  import_buffer_free(&out);
  return NULL;
}
