/*
** Shared by the fuzz targets: reading bytes, timing calls, and a main() for builds without
** libFuzzer (REPLAY).
*/
#ifndef FUZZ_H
#define FUZZ_H

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n");
  fflush(stdout);
  abort();
}

/* The bytes still to be read; zeros follow the last one. */
typedef struct fuzz_bytes {
  const uint8_t *at;
  size_t left;
} fuzz_bytes;

static inline unsigned fuzz_byte(fuzz_bytes *in) {
  if (in->left == 0) return 0;
  in->left--;
  return *in->at++;
}

static inline uint64_t fuzz_word(fuzz_bytes *in) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) word = word << 8 | fuzz_byte(in);
  return word;
}

/*
** The slowest call, printed by a replay alone, because sanitizers make times meaningless
*/
#ifdef REPLAY
enum { FUZZ_SEARCHES = 0 };
static double slowest;

static inline double fuzz_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Whether the call begun at `from` is the slowest yet, to be printed. */
static inline bool fuzz_slowest(double from) {
  double took = fuzz_ms() - from;
  if (took <= slowest) return false;
  slowest = took;
  return true;
}

/* The description of the slowest call. */
static char *slowest_call;
static inline FILE *fuzz_describe(void) {
  static size_t size;
  free(slowest_call);
  slowest_call = NULL;
  FILE *out = open_memstream(&slowest_call, &size);
  if (!out) fuzz_die("no memory");
  return out;
}

static uint64_t fuzz_state;

static uint64_t fuzz_random(void) {
  fuzz_state ^= fuzz_state << 13;
  fuzz_state ^= fuzz_state >> 7;
  fuzz_state ^= fuzz_state << 17;
  return fuzz_state * 0x2545F4914F6CDD1Du;
}

static long fuzz_at_random(double seconds, uint64_t seed) {
  uint8_t data[400];
  long count = 0;
  printf("seed %llu\n", (unsigned long long)seed);
  fuzz_state = 2 * seed + 1;
  for (double end = fuzz_ms() + 1e3 * seconds; fuzz_ms() < end; count++) {
    size_t size = fuzz_random() % sizeof data;
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)(fuzz_random() >> 32);
    LLVMFuzzerTestOneInput(data, size);
  }
  return count;
}

/*
** Inputs come as files and folders of them, as libFuzzer keeps them, or as lines of a
** .corpus, one an input: visible ASCII as it is, other bytes and the backslash as
** \xHH.  A line that begins with "# " is a comment.
*/
typedef void fuzz_use(const uint8_t *data, size_t size, const char *to);

static void fuzz_run(const uint8_t *data, size_t size, const char *to) {
  (void)to;
  LLVMFuzzerTestOneInput(data, size);
}

static void fuzz_print(const uint8_t *data, size_t size, const char *to) {
  (void)to;
  for (size_t i = 0; i < size; i++)
    printf(data[i] > ' ' && data[i] <= '~' && data[i] != '\\' ? "%c" : "\\x%02x", data[i]);
  printf("\n");
}

/* Writes the bytes to a file of the folder, named by a hash of them. */
static void fuzz_unpack(const uint8_t *data, size_t size, const char *to) {
  char path[1000];
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 0x100000001B3u;
  snprintf(path, sizeof path, "%s/%016llx", to, (unsigned long long)hash);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
    fuzz_die("cannot write %s", path);
}

static size_t fuzz_unescape(const char *line, uint8_t *data) {
  size_t size = 0;
  for (unsigned byte; *line && *line != '\n'; data[size++] = (uint8_t)byte) {
    if (*line != '\\')
      byte = (uint8_t)*line++;
    else if (sscanf(line, "\\x%2x", &byte) == 1)
      line += 4;
    else
      fuzz_die("not an input: %s", line);
  }
  return size;
}

static long fuzz_file(const char *path, fuzz_use *use, const char *to) {
  static uint8_t data[1 << 16];
  const char *dot = strrchr(path, '.');
  long count = 0;
  FILE *file = fopen(path, "rb");
  if (!file) fuzz_die("cannot read %s", path);
  if (dot && strcmp(dot, ".corpus") == 0) {
    static char line[4 * sizeof data];
    while (fgets(line, sizeof line, file)) {
      if (strncmp(line, "# ", 2) == 0) continue;
      use(data, fuzz_unescape(line, data), to);
      count++;
    }
  } else {
    use(data, fread(data, 1, sizeof data, file), to);
    count = 1;
  }
  fclose(file);
  return count;
}

static long fuzz_folder(const char *path, fuzz_use *use, const char *to) {
  DIR *folder = opendir(path);
  if (!folder) return fuzz_file(path, use, to);
  long count = 0;
  for (const struct dirent *d; (d = readdir(folder));) {
    char file[1000];
    snprintf(file, sizeof file, "%s/%s", path, d->d_name);
    if (d->d_name[0] != '.') count += fuzz_file(file, use, to);
  }
  closedir(folder);
  return count;
}

int main(int argc, char **argv) {
  long count = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 4 && strcmp(argv[1], "--unpack") == 0)
    return fuzz_folder(argv[2], fuzz_unpack, argv[3]) == 0;
  if (argc == 3 && strcmp(argv[1], "--pack") == 0)
    return fuzz_folder(argv[2], fuzz_print, NULL) == 0;
  if (argc == 4 && strcmp(argv[1], "--random") == 0)
    count = fuzz_at_random(atof(argv[2]), (uint64_t)atoll(argv[3]));
  else
    for (int i = 1; i < argc; i++) count += fuzz_folder(argv[i], fuzz_run, NULL);
  printf("the slowest single call:\n%s", slowest_call ? slowest_call : "");
  printf("%ld passed, 0 failed; it took %.1f ms\n", count, slowest);
  free(slowest_call);
  return 0;
}
#else
enum { FUZZ_SEARCHES = 1 };
static inline double fuzz_ms(void) {
  return 0;
}

static inline bool fuzz_slowest(double from) {
  (void)from;
  return false;
}

static inline FILE *fuzz_describe(void) {
  return stdout;
}
#endif

#endif
