/*
** What depends on the system: the terminal, and files that take another's place.
*/
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli.h"

#ifdef _WIN32
#include <io.h>
#include <process.h>
#include <windows.h>
#define SEPARATORS "/\\:"
#else
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>
#define SEPARATORS "/"
#endif

/*
** The terminal
*/
/* On other systems text is bytes, in UTF-8. */
void cli_start(void) {
#ifdef _WIN32
  SetConsoleOutputCP(CP_UTF8);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
}

bool cli_is_terminal(FILE *stream) {
#ifdef _WIN32
  return _isatty(_fileno(stream));
#else
  return isatty(fileno(stream));
#endif
}

/* https://no-color.org */
bool cli_has_colour(FILE *stream) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(no && *no) && term && strcmp(term, "dumb") != 0 && cli_is_terminal(stream);
}

int cli_columns(FILE *stream) {
  int columns = 0;
#ifdef _WIN32
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(_fileno(stream)), &info))
    columns = info.srWindow.Right - info.srWindow.Left + 1;
#else
  struct winsize size;
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0) columns = size.ws_col;
#endif
  return columns >= 40 ? columns : 80; /* a smaller number is not a terminal for reading tables */
}

double cli_seconds(void) {
#ifdef _WIN32
  return 1e-3 * (double)GetTickCount64();
#else
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now)) return 0;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#endif
}

/*
** Files
*/
bool cli_exists(const char *path) {
  struct stat found;
#ifdef _WIN32
  return stat(path, &found) == 0;
#else
  return lstat(path, &found) == 0;
#endif
}

bool cli_is_folder(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

bool cli_is_file(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

bool cli_same_file(const char *a, const char *b) {
#ifdef _WIN32
  char whole_a[_MAX_PATH], whole_b[_MAX_PATH];
  return _fullpath(whole_a, a, _MAX_PATH) && _fullpath(whole_b, b, _MAX_PATH) &&
         _stricmp(whole_a, whole_b) == 0;
#else
  struct stat found_a, found_b;
  return stat(a, &found_a) == 0 && stat(b, &found_b) == 0 && found_a.st_dev == found_b.st_dev &&
         found_a.st_ino == found_b.st_ino;
#endif
}

char *cli_resolve(const char *path) {
#ifdef _WIN32
  return sqlite3_mprintf("%s", path);
#else
  char *whole = realpath(path, NULL), *copy = sqlite3_mprintf("%s", whole ? whole : path);
  free(whole);
  return copy;
#endif
}

/* The file's name, after the folders. */
static size_t folder_size(const char *path) {
  size_t size = 0;
  for (size_t i = 0; path[i]; i++)
    if (strchr(SEPARATORS, path[i])) size = i + 1;
  return size;
}

enum { DAY = 24 * 60 * 60 };

/* Whether a file is one that cli_beside() made for a program that was killed.  A folder may be
** shared with other machines, whose processes cannot be asked for: hence the day. */
static bool is_left_over(const char *path, const char *name) {
  static const char begin[] = ".evalci-";
  struct stat found;
  if (strncmp(name, begin, sizeof begin - 1) != 0) return false;
  char *end, *pattern = NULL;
  long process = strtol(name + sizeof begin - 1, &end, 10);
  if (process > 0 && *end == '-')
    pattern = sqlite3_mprintf("%s%ld-%ld.part", begin, process, strtol(end + 1, NULL, 10));
  bool ours = pattern && strcmp(name, pattern) == 0;
  sqlite3_free(pattern);
#ifdef _WIN32
  ours = ours && stat(path, &found) == 0; /* a file that is open cannot be removed there */
#else
  ours = ours && lstat(path, &found) == 0 && found.st_uid == geteuid() &&
         kill((pid_t)process, 0) != 0 && errno == ESRCH;
#endif
  return ours && S_ISREG(found.st_mode) && difftime(time(NULL), found.st_mtime) > DAY;
}

static void remove_left_over(const char *target) {
  int size = (int)folder_size(target);
  char *folder = sqlite3_mprintf("%.*s.", size, target);
  DIR *all = folder ? opendir(folder) : NULL;
  for (const struct dirent *entry; all && (entry = readdir(all));) {
    char *path = sqlite3_mprintf("%.*s%s", size, target, entry->d_name);
    if (path && is_left_over(path, entry->d_name)) cli_remove(path);
    sqlite3_free(path);
  }
  if (all) closedir(all);
  sqlite3_free(folder);
}

/* What takes the place of a file is read by nobody else before it has that file's permissions. */
char *cli_beside(const char *target, int *error) {
  int size = (int)folder_size(target);
  int mode = cli_is_file(target) ? 0600 : 0666;
  remove_left_over(target);
  for (int i = 0; i < 1000; i++) {
    char *path = sqlite3_mprintf("%.*s.evalci-%d-%d.part", size, target, (int)getpid(), i);
    *error = ENOMEM;
    if (!path) return NULL;
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY, mode);
    *error = file < 0 ? errno : 0;
    if (file >= 0) close(file);
    if (file >= 0) return path;
    sqlite3_free(path);
    if (*error != EEXIST) return NULL;
  }
  return NULL;
}

/* Flushes the file to the disk, so that a name is never given to half a file. */
int cli_sync(const char *path) {
  int file = open(path, O_RDWR);
  if (file < 0) return errno;
#ifdef _WIN32
  int error = _commit(file) ? errno : 0;
#else
  int error = fsync(file) ? errno : 0;
#endif
  if (close(file) && !error) error = errno;
  return error;
}

#ifndef _WIN32
/* Makes a new name last.  Not every file system can, and the file is whole and in its place. */
static void sync_folder(const char *target) {
  char *folder = sqlite3_mprintf("%.*s.", (int)folder_size(target), target);
  int file = folder ? open(folder, O_RDONLY) : -1;
  if (file >= 0) fsync(file);
  if (file >= 0) close(file);
  sqlite3_free(folder);
}

/* Gives a file the permissions of another; 0 or an errno.  Its owner and group need a right that
** few have. */
static int copy_permissions(const char *from, const char *to) {
  struct stat found;
  if (stat(from, &found)) return errno == ENOENT ? 0 : errno;
  bool owned = chown(to, found.st_uid, found.st_gid) == 0;
  return chmod(to, found.st_mode & (owned ? 07777 : 0777)) ? errno : 0;
}
#endif

int cli_place(const char *made, const char *target) {
#ifdef _WIN32
  if (MoveFileExA(made, target, MOVEFILE_WRITE_THROUGH)) return 0;
  return GetLastError() == ERROR_ALREADY_EXISTS ? EEXIST : EIO;
#else
  if (link(made, target)) return errno;
  cli_remove(made);
  sync_folder(target);
  return 0;
#endif
}

int cli_replace(const char *made, const char *target) {
#ifdef _WIN32
  return MoveFileExA(made, target, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ? 0 : EIO;
#else
  int error = copy_permissions(target, made);
  if (!error) error = rename(made, target) ? errno : 0;
  if (!error) sync_folder(target);
  return error;
#endif
}

void cli_remove(const char *path) {
  if (unlink(path))
    return; /* a file that cannot be removed stays, under a name that says what made it */
}
