/*
** What lies around a file: the names of its folders, and the files beside it.
*/
#include <dirent.h>
#include <string.h>

#include "inside.h"

/* The largest file of settings or names that is read whole; real ones are far smaller. */
enum { LONGEST_TEXT = 16 << 20 };

bool import_folder(import_run *run, const import_file *file, int above, char **out) {
  const char *from = file->folder, *end = from + strlen(from), *start = end;
  for (int i = 0; i <= above; i++) {
    for (end = start; end > from && strchr("/\\", end[-1]); end--) {
    }
    for (start = end; start > from && !strchr("/\\", start[-1]); start--) {
    }
  }
  return import_set(run, out, "%.*s", (int)(end - start), start);
}

bool import_near(import_run *run, const import_file *file, const char *up, const char *glob,
                 char **name) {
  char *path = sqlite3_mprintf("%s%s", file->source->path ? file->folder : "", up);
  if (!path) return import_no_memory(run);
  DIR *folder = opendir(*path ? path : ".");
  bool ok = true;
  *name = NULL;
  for (const struct dirent *entry; ok && folder && (entry = readdir(folder));)
    if (!sqlite3_strglob(glob, entry->d_name) &&
        (!*name || strcmp(entry->d_name, *name + strlen(up)) < 0))
      ok = import_set(run, name, "%s%s", up, entry->d_name);
  if (folder) closedir(folder);
  sqlite3_free(path);
  return ok;
}

bool import_text(import_run *run, const char *path, char **out) {
  FILE *from = import_file_open(path);
  import_buffer text = {0};
  char piece[4096];
  size_t got;
  bool ok = from || import_fail(run, NULL, "%s: it cannot be opened", path);
  while (ok && (got = fread(piece, 1, sizeof piece, from)) > 0)
    ok = text.length < LONGEST_TEXT
             ? import_append(run, &text, piece, got)
             : import_fail(run, NULL, "%s: it has over %d bytes", path, LONGEST_TEXT);
  if (ok && ferror(from)) ok = import_fail(run, NULL, "%s: it cannot be read", path);
  if (from) fclose(from);
  ok = ok && import_append(run, &text, "", 1);
  if (ok)
    *out = text.text;
  else
    import_buffer_free(&text);
  return ok;
}
