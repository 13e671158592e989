/*
** What the fuzz targets share: reading bytes, timing calls, and the program
** around them when libFuzzer is not (REPLAY).
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

/* What is left to read; zeros when nothing is. */
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
** The slowest call, which only a replay tells: sanitizers make time meaningless
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

/* Where the slowest call is to be described. */
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
  fuzz_state = 2 * seed + 1;
  for (double end = fuzz_ms() + 1e3 * seconds; fuzz_ms() < end; count++) {
    size_t size = fuzz_random() % sizeof data;
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)(fuzz_random() >> 32);
    LLVMFuzzerTestOneInput(data, size);
  }
  return count;
}

static long fuzz_file(const char *path) {
  static uint8_t data[1 << 16];
  FILE *file = fopen(path, "rb");
  if (!file) fuzz_die("cannot read %s", path);
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  return 1;
}

static long fuzz_folder(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) return fuzz_file(path);
  long count = 0;
  for (const struct dirent *d; (d = readdir(folder));) {
    char file[1000];
    snprintf(file, sizeof file, "%s/%s", path, d->d_name);
    if (d->d_name[0] != '.') count += fuzz_file(file);
  }
  closedir(folder);
  return count;
}

int main(int argc, char **argv) {
  long count = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 4 && strcmp(argv[1], "--random") == 0)
    count = fuzz_at_random(atof(argv[2]), (uint64_t)atoll(argv[3]));
  else
    for (int i = 1; i < argc; i++) count += fuzz_folder(argv[i]);
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
