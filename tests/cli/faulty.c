/*
** A library that makes the system fail at a chosen moment, for tests/cli/writing.py:
** LD_PRELOAD=build/faulty.so FAULT=what:number FAULT_FILE=path FAULT_LOG=path evalci ...
**
**   kill:N     ends the program by SIGKILL at the Nth change of a file: a write is half done then,
**              anything else is not done
**   full:N     from the Nth change on, no file grows, as on a full disk
**   once:N     the Nth change fails, if it is a write
**   unlock:0   once a journal was removed, no lock can be let go
**   append:N   at the Nth piece that is read of FAULT_FILE, a line is appended to it
**   log:0      links, renames and syncs of folders are listed in FAULT_LOG
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long changes, pieces;
static int journal_gone;
static FILE *watched;

static long fault(const char *what) {
  const char *set = getenv("FAULT");
  size_t n = strlen(what);
  return set && strncmp(set, what, n) == 0 && set[n] == ':' ? atol(set + n + 1) : -1;
}

/* ISO C converts no object pointer to a function pointer. */
#define REAL(name) (*(__typeof__(&name) *)&(void *){dlsym(RTLD_NEXT, #name)})

static void note(const char *what, const char *a, const char *b) {
  FILE *log = fault("log") == 0 ? REAL(fopen)(getenv("FAULT_LOG"), "a") : NULL;
  if (!log) return;
  fprintf(log, "%s %s %s\n", what, a, b);
  fclose(log);
}

/* Counts a change; whether the program is to end at it. */
static int is_last(void) {
  return ++changes == fault("kill");
}

static void change(void) {
  if (is_last()) kill(getpid(), SIGKILL);
}

/* Whether writing up to there fails. */
static bool is_full(int file, off_t end) {
  struct stat about;
  long from = fault("full");
  bool full = from >= 0 && changes >= from && fstat(file, &about) == 0 && end > about.st_size;
  if (full || changes == fault("once")) errno = full ? ENOSPC : EIO;
  return full || changes == fault("once");
}

static int is_regular(int file) {
  struct stat about;
  return file > 2 && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

ssize_t write(int file, const void *bytes, size_t size) {
  if (!is_regular(file)) return REAL(write)(file, bytes, size);
  if (is_last() && REAL(write)(file, bytes, size / 2) >= 0) kill(getpid(), SIGKILL);
  off_t at = lseek(file, 0, SEEK_CUR);
  return is_full(file, at + (off_t)size) ? -1 : REAL(write)(file, bytes, size);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
  if (is_last() && REAL(pwrite64)(file, bytes, size / 2, at) >= 0) kill(getpid(), SIGKILL);
  return is_full(file, at + (off_t)size) ? -1 : REAL(pwrite64)(file, bytes, size, at);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
  return pwrite64(file, bytes, size, at);
}

int ftruncate64(int file, off64_t size) {
  change();
  return is_full(file, size) ? -1 : REAL(ftruncate64)(file, size);
}

int ftruncate(int file, off_t size) {
  return ftruncate64(file, size);
}

int fsync(int file) {
  struct stat about;
  change();
  if (fstat(file, &about) == 0 && S_ISDIR(about.st_mode)) note("sync", "a folder", "");
  return REAL(fsync)(file);
}

int fdatasync(int file) {
  change();
  return REAL(fdatasync)(file);
}

int unlink(const char *path) {
  change();
  int rc = REAL(unlink)(path);
  size_t n = strlen(path);
  if (n > 8 && strcmp(path + n - 8, "-journal") == 0) journal_gone = 1;
  return rc;
}

int link(const char *from, const char *to) {
  change();
  note("link", from, to);
  return REAL(link)(from, to);
}

int rename(const char *from, const char *to) {
  change();
  note("rename", from, to);
  return REAL(rename)(from, to);
}

int fcntl64(int file, int what, ...) {
  va_list list;
  va_start(list, what);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (journal_gone && fault("unlock") == 0 && what == F_SETLK &&
      ((struct flock *)argument)->l_type != F_WRLCK) {
    errno = EIO;
    return -1;
  }
  return REAL(fcntl64)(file, what, argument);
}

int fcntl(int file, int what, ...) {
  va_list list;
  va_start(list, what);
  void *argument = va_arg(list, void *);
  va_end(list);
  return fcntl64(file, what, argument);
}

FILE *fopen64(const char *path, const char *mode) {
  const char *file = getenv("FAULT_FILE");
  FILE *opened = REAL(fopen64)(path, mode);
  if (file && strcmp(file, path) == 0) watched = opened;
  return opened;
}

FILE *fopen(const char *path, const char *mode) {
  return fopen64(path, mode);
}

static void piece(const FILE *from) {
  static const char line[] = "late,t,1,1\n";
  if (from != watched || ++pieces != fault("append")) return;
  int file = open(getenv("FAULT_FILE"), O_WRONLY | O_APPEND);
  if (file < 0 || REAL(write)(file, line, sizeof line - 1) < 0) abort();
  close(file);
}

size_t fread(void *out, size_t size, size_t count, FILE *from) {
  piece(from);
  return REAL(fread)(out, size, count, from);
}

size_t __fread_chk(void *out, size_t room, size_t size, size_t count, FILE *from) {
  (void)room;
  return fread(out, size, count, from);
}
