# SQLite and evalci as WebAssembly, and the page that holds them.  From the top of the
# project, called by `make page`:
#
#   make -f ext/page/page.mk page
#
# GSL, musl's libm and evalci's own files are compiled by the rules of the other
# platforms; here come SQLite, what its shell has beside it (readfile, fsdir, zipfile,
# generate_series), and zlib.
PLATFORM := wasm32
include ext/dist/platform.mk

# emscripten's own scripts ask for acorn, which a Node that is not Debian's looks for
# elsewhere.
export NODE_PATH := /usr/share/nodejs

PAGE   := build/page
comma  := ,
SQLITE := -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=2 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_USE_URI=1 \
          -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB
MISC_O := $(addprefix $(HERE)/misc/,fileio.o zipfile.o series.o)
ZLIB_O := $(addprefix $(HERE)/zlib/,adler32.o crc32.o deflate.o inffast.o inflate.o inftrees.o trees.o zutil.o)

# What JavaScript calls.
CALLED := malloc free $(addprefix sqlite3_,open_v2 close errmsg error_offset free interrupt memory_used \
          prepare_v2 step finalize complete progress_handler serialize get_autocommit \
          column_count column_name column_type column_int64 column_double column_text column_bytes column_blob \
          bind_parameter_count bind_parameter_name bind_null bind_int64 bind_double bind_text64 bind_blob64 \
          evalci_init fileio_init zipfile_init series_init)

# Memory grows to all that 32 bits reach.  No code is made from text, which a strict
# Content-Security-Policy forbids.
LINK := -O2 -sMODULARIZE -sEXPORT_NAME=instantiateEvalci -sENVIRONMENT=web,worker --no-entry -sWASM_BIGINT \
        -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=5MB -sALLOW_TABLE_GROWTH \
        -sFORCE_FILESYSTEM -sDYNAMIC_EXECUTION=0 -sINCOMING_MODULE_JS_API=instantiateWasm \
        -sEXPORTED_RUNTIME_METHODS=FS,addFunction -sEXPORTED_FUNCTIONS=$(subst $() ,$(comma),$(addprefix _,$(CALLED)))

OURS_JS := $(addprefix ext/page/,files.js database.js shell.js imports.js evalci.js)
PIECES  := $(addprefix ext/page/,api.txt notices.txt page.html page.css page.js worker.js)
SQL     := $(sort $(wildcard sql/*.sql sql/*/*.sql))

.PHONY: page
page: $(PAGE)/evalci.mjs

$(PAGE)/module.js $(PAGE)/evalci.wasm &: $(OURS_O) $(HERE)/libgsl.a $(HERE)/libmath.a $(HERE)/page-sqlite3.o $(MISC_O) $(ZLIB_O) \
                                         ext/page/page.mk
	@mkdir -p $(PAGE)
	emcc $(LINK) -o $(PAGE)/module.js $(filter %.o %.a,$^)
	mv $(PAGE)/module.wasm $(PAGE)/evalci.wasm

$(PAGE)/evalci.mjs: $(PAGE)/module.js $(OURS_JS) $(PIECES) $(SQL) ext/page/assemble.py
	ext/page/assemble.py $(PAGE) $(OURS_JS)

$(HERE)/page-sqlite3.o: $(SOURCES)/sqlite3/sqlite3.c ext/page/page.mk
	emcc -w -O2 $(SQLITE) -c -o $@ $<

$(HERE)/misc/%.o: $(SOURCES)/sqlite3/ext/misc/%.c ext/page/page.mk
	@mkdir -p $(@D)
	emcc -w -O2 -DNDEBUG -DSQLITE_CORE -I$(SOURCES)/sqlite3 -I$(SOURCES)/zlib -c -o $@ $<

$(HERE)/zlib/%.o: $(SOURCES)/zlib/%.c
	@mkdir -p $(@D)
	emcc -w -O2 -DHAVE_UNISTD_H -c -o $@ $<
