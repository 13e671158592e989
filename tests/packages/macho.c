/*
** Loads a library for macOS into a Linux program for the same processor, so that the file for a Mac
** runs here, natively or by qemu.  It is linked into a test program with --wrap=dlopen and the
** like, and replaces these functions, which SQLite calls.
**
** 1. The file's segments are copied to memory, at the distances that it asks for.
** 2. Addresses within it are moved along: its rebase opcodes.
** 3. What it imports is bound to this program's C library: its bind opcodes.  A name that
**    is not listed here is an error, so that the list is what evalci needs of macOS.
** 4. Each segment gets the rights that it asks for.
**
** Where Apple's calls differ from those of Linux: on ARM all variable arguments are on the
** stack, for which SQLite's functions with such get a shim.
**
** Format: Apple's <mach-o/loader.h>, and dyld's interpretation of the opcodes.
*/
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

/* Its functions by name, not by the table. */
#ifndef SQLITE_CORE
#define SQLITE_CORE
#endif
#include <sqlite3ext.h>

typedef struct segment {
  uint64_t address, size, offset, stored;
  uint32_t rights;
} segment;

enum { MOST_SEGMENTS = 8 };

typedef struct image {
  uint8_t *file, *memory;
  long length;
  uint64_t size;
  int segments;
  segment segment[MOST_SEGMENTS];
  const uint8_t *opcodes, *symbols;
  const char *error;
} image;

static image loaded;

/* ---- what macOS has and Linux has not, or otherwise ---- */

static uintptr_t guard = 0x5bd1e995;

static void guard_failed(void) {
  fprintf(stderr, "macho: a stack was overwritten\n");
  abort();
}

static void bound_too_late(void) {
  fprintf(stderr, "macho: a call of a function that was not bound\n");
  abort();
}

static void memset_pattern16(void *to, const void *pattern, size_t length) {
  for (size_t i = 0; i < length; i++) ((uint8_t *)to)[i] = ((const uint8_t *)pattern)[i % 16];
}

#ifdef __aarch64__
/* Defines NAME, with this number of named arguments: it passes the variable ones to on_stack_NAME
** as a pointer. */
#define TRAMPOLINE(name, named)                                                                    \
  void trampoline_##name(void);                                                                    \
  __asm__(".text\n.type trampoline_" #name ", %function\ntrampoline_" #name ":\n  mov x" #named    \
          ", sp\n  b on_stack_" #name "\n")

/* A Linux list of arguments whose registers are used up. */
static va_list rest(void *stack) {
  union {
    void *fields[sizeof(va_list) / sizeof(void *)];
    va_list list;
  } made = {{0}};
  made.fields[0] = stack;
  return made.list;
}

int on_stack_snprintf(char *to, size_t size, const char *format, void *stack);
int on_stack_fprintf(FILE *to, const char *format, void *stack);
char *on_stack_mprintf(const char *format, void *stack);
char *on_stack_xsnprintf(int size, char *to, const char *format, void *stack);
void on_stack_appendf(sqlite3_str *to, const char *format, void *stack);
int on_stack_vtab_config(sqlite3 *db, int option, void *stack);

int on_stack_snprintf(char *to, size_t size, const char *format, void *stack) {
  return vsnprintf(to, size, format, rest(stack));
}
int on_stack_fprintf(FILE *to, const char *format, void *stack) {
  return vfprintf(to, format, rest(stack));
}
char *on_stack_mprintf(const char *format, void *stack) {
  return sqlite3_vmprintf(format, rest(stack));
}
char *on_stack_xsnprintf(int size, char *to, const char *format, void *stack) {
  return sqlite3_vsnprintf(size, to, format, rest(stack));
}
void on_stack_appendf(sqlite3_str *to, const char *format, void *stack) {
  sqlite3_str_vappendf(to, format, rest(stack));
}
int on_stack_vtab_config(sqlite3 *db, int option, void *stack) {
  return sqlite3_vtab_config(db, option, *(int *)stack);
}
TRAMPOLINE(snprintf, 3);
TRAMPOLINE(fprintf, 2);
TRAMPOLINE(mprintf, 1);
TRAMPOLINE(xsnprintf, 3);
TRAMPOLINE(appendf, 2);
TRAMPOLINE(vtab_config, 2);
/* Apple's list is that pointer. */
static char *listed_vmprintf(const char *format, void *stack) {
  return on_stack_mprintf(format, stack);
}
#define VARIADIC(name) (uintptr_t) & trampoline_##name
#else
#define VARIADIC(name) (uintptr_t) & name
#endif

void __udivti3(void);
void __memcpy_chk(void);

#define SAME(name)                                                                                 \
  { "_" #name, (uintptr_t)&name }
static const struct {
  const char *name;
  uintptr_t address;
} bindings[] = {
    {"___stack_chk_fail", (uintptr_t)&guard_failed},
    {"___stack_chk_guard", (uintptr_t)&guard},
    {"___stderrp", (uintptr_t)&stderr},
    {"___stdoutp", (uintptr_t)&stdout},
    {"_memset_pattern16", (uintptr_t)&memset_pattern16},
    {"dyld_stub_binder", (uintptr_t)&bound_too_late},
    {"_snprintf", VARIADIC(snprintf)},
    {"_fprintf", VARIADIC(fprintf)},
    {"___bzero", (uintptr_t)&bzero},
    SAME(__memcpy_chk),
    SAME(__udivti3),
    SAME(abort),
    SAME(atoi),
    SAME(bzero),
    SAME(calloc),
    SAME(fflush),
    SAME(fma),
    SAME(free),
    SAME(fwrite),
    SAME(malloc),
    SAME(memchr),
    SAME(memcmp),
    SAME(memcpy),
    SAME(memmove),
    SAME(memset),
    SAME(nearbyint),
    SAME(qsort),
    SAME(realloc),
    SAME(remainder),
    SAME(strchr),
    SAME(strcmp),
    SAME(strcpy),
    SAME(strcspn),
    SAME(strlen),
    SAME(strpbrk),
    SAME(strtod),
};

static uintptr_t address_of(image *m, const char *name) {
  for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
    if (strcmp(bindings[i].name, name) == 0) return bindings[i].address;
  fprintf(stderr, "macho: %s is imported, and not listed in tests/packages/macho.c\n", name);
  m->error = "an import that is not listed";
  return 0;
}

/* ---- the file ---- */

static uint32_t word(const uint8_t *at) {
  uint32_t x;
  memcpy(&x, at, sizeof x);
  return x;
}

static uint64_t wide(const uint8_t *at) {
  uint64_t x;
  memcpy(&x, at, sizeof x);
  return x;
}

static uint64_t uleb(const uint8_t **at) {
  uint64_t x = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*at)++;
    x |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return x;
  }
}

/* Corrects the addresses within the file, by its rebase opcodes. */
static void rebase(image *m, const uint8_t *at, const uint8_t *end) {
  uint64_t place = 0;
  while (at < end) {
    uint8_t opcode = *at & 0xf0, low = *at & 0x0f;
    uint64_t times = 0, skip = 0;
    at++;
    switch (opcode) {
    case 0x00:
      return;
    case 0x10:
      continue; /* of pointers, as all are */
    case 0x20:
      place = m->segment[low].address + uleb(&at);
      continue;
    case 0x30:
      place += uleb(&at);
      continue;
    case 0x40:
      place += low * sizeof(uint64_t);
      continue;
    case 0x50:
      times = low;
      break;
    case 0x60:
      times = uleb(&at);
      break;
    case 0x70:
      times = 1, skip = uleb(&at);
      break;
    case 0x80:
      times = uleb(&at), skip = uleb(&at);
      break;
    default:
      m->error = "a rebase opcode that is not known";
      return;
    }
    for (; times > 0; times--, place += sizeof(uint64_t) + skip) {
      uint64_t moved = wide(m->memory + place) + (uintptr_t)m->memory;
      memcpy(m->memory + place, &moved, sizeof moved);
    }
  }
}

/* Binds imports, by its bind opcodes, including those that macOS may bind at the first call. */
static void bind(image *m, const uint8_t *at, const uint8_t *end) {
  uint64_t place = 0;
  uintptr_t address = 0;
  while (at < end) {
    uint8_t opcode = *at & 0xf0, low = *at & 0x0f;
    uint64_t times = 1, skip = 0;
    at++;
    switch (opcode) {
    case 0x00:
      continue; /* ends one of those bound at the first call */
    case 0x10:
      continue; /* from the first library, of one */
    case 0x40:
      address = address_of(m, (const char *)at);
      at += strlen((const char *)at) + 1;
      continue;
    case 0x50:
      continue;
    case 0x70:
      place = m->segment[low].address + uleb(&at);
      continue;
    case 0x80:
      place += uleb(&at);
      continue;
    case 0x90:
      break;
    case 0xa0:
      skip = uleb(&at);
      break;
    case 0xb0:
      skip = low * sizeof(uint64_t);
      break;
    case 0xc0:
      times = uleb(&at), skip = uleb(&at);
      break;
    default:
      m->error = "a bind opcode that is not known";
      return;
    }
    for (; times > 0; times--, place += sizeof(uint64_t) + skip)
      memcpy(m->memory + place, &address, sizeof address);
  }
}

static bool read_file(image *m, const char *path) {
  FILE *in = fopen(path, "rb");
  if (in == NULL) return false;
  bool read = fseek(in, 0, SEEK_END) == 0 && (m->length = ftell(in)) > 32;
  m->file = read ? malloc((size_t)m->length) : NULL;
  read = m->file && fseek(in, 0, SEEK_SET) == 0 && fread(m->file, (size_t)m->length, 1, in) == 1;
  return fclose(in) == 0 && read && word(m->file) == 0xfeedfacf;
}

enum { LC_SYMTAB = 0x2, LC_SEGMENT_64 = 0x19, LC_DYLD_INFO = 0x22, COMMANDS = 32 };

static void read_commands(image *m) {
  const uint8_t *at = m->file + COMMANDS;
  for (uint32_t i = word(m->file + 16); i > 0; i--, at += word(at + 4)) {
    if (word(at) == LC_SEGMENT_64 && m->segments < MOST_SEGMENTS) {
      segment s = {wide(at + 24), wide(at + 32), wide(at + 40), wide(at + 48), word(at + 60)};
      m->segment[m->segments++] = s;
      if (s.address + s.size > m->size) m->size = s.address + s.size;
    } else if ((word(at) & 0xff) == LC_DYLD_INFO) {
      m->opcodes = at;
    } else if (word(at) == LC_SYMTAB) {
      m->symbols = at;
    }
  }
}

static bool place_segments(image *m) {
  m->memory = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m->memory == MAP_FAILED) return false;
  for (int i = 0; i < m->segments; i++)
    memcpy(m->memory + m->segment[i].address, m->file + m->segment[i].offset, m->segment[i].stored);
  return true;
}

static void fix_addresses(image *m) {
  const uint8_t *file = m->file, *o = m->opcodes;
  rebase(m, file + word(o + 8), file + word(o + 8) + word(o + 12));
  bind(m, file + word(o + 16), file + word(o + 16) + word(o + 20));
  bind(m, file + word(o + 32), file + word(o + 32) + word(o + 36));
}

static void protect_segments(image *m) {
  for (int i = 0; i < m->segments; i++) {
    segment s = m->segment[i];
    int rights = (s.rights & 1 ? PROT_READ : 0) | (s.rights & 2 ? PROT_WRITE : 0) |
                 (s.rights & 4 ? PROT_EXEC : 0);
    if (mprotect(m->memory + s.address, s.size, rights) != 0) m->error = "a segment's rights";
  }
  __builtin___clear_cache((char *)m->memory, (char *)m->memory + m->size);
}

/* ---- in the place of Linux's ---- */

void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlsym(void *handle, const char *name);
int __wrap_dlclose(void *handle);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *path, int flags) {
  (void)flags;
  /* Loaded once, for all connections. */
  if (loaded.memory) return loaded.error ? NULL : &loaded;
  if (!read_file(&loaded, path)) {
    loaded.error = "not a Mach-O file";
    return NULL;
  }
  read_commands(&loaded);
  if (loaded.opcodes == NULL || loaded.symbols == NULL || !place_segments(&loaded)) {
    loaded.error = "no opcodes, no symbols or no memory";
    return NULL;
  }
  loaded.error = NULL;
  fix_addresses(&loaded);
  protect_segments(&loaded);
  return loaded.error ? NULL : &loaded;
}

typedef int entry(sqlite3 *db, char **message, const sqlite3_api_routines *api);

static uintptr_t symbol(const image *m, const char *name) {
  const uint8_t *table = m->file + word(m->symbols + 8), *names = m->file + word(m->symbols + 16);
  for (uint32_t i = 0; i < word(m->symbols + 12); i++) {
    const uint8_t *at = table + 16 * i;
    /* Defined in a section, and seen outside. */
    bool exported = (at[4] & 0x1f) == 0x0f;
    if (exported && strcmp((const char *)names + word(at) + 1, name) == 0)
      return (uintptr_t)m->memory + wide(at + 8);
  }
  return 0;
}

#ifdef __aarch64__
/* The same with SQLite's functions of variable arguments as Apple calls them. */
static int entered(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  static sqlite3_api_routines shimmed;
  shimmed = *api;
  uintptr_t shims[] = {VARIADIC(mprintf), VARIADIC(xsnprintf), VARIADIC(appendf),
                       VARIADIC(vtab_config), (uintptr_t)&listed_vmprintf};
  memcpy(&shimmed.mprintf, &shims[0], sizeof *shims);
  memcpy(&shimmed.xsnprintf, &shims[1], sizeof *shims);
  memcpy(&shimmed.str_appendf, &shims[2], sizeof *shims);
  memcpy(&shimmed.vtab_config, &shims[3], sizeof *shims);
  memcpy(&shimmed.vmprintf, &shims[4], sizeof *shims);
  return ((entry *)symbol(&loaded, "sqlite3_evalci_init"))(db, message, &shimmed);
}
#endif

void *__wrap_dlsym(void *handle, const char *name) {
  uintptr_t found = symbol(handle, name);
#ifdef __aarch64__
  if (found) found = (uintptr_t)&entered;
#endif
  return (void *)found;
}

int __wrap_dlclose(void *handle) {
  (void)handle;
  return 0;
}

char *__wrap_dlerror(void) {
  return (char *)(uintptr_t)(loaded.error ? loaded.error : "");
}
