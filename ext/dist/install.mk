# Installs the contents of this archive: make install [PREFIX=/usr/local].  Nothing is
# compiled.  The program goes to PREFIX/bin, the library to PREFIX/lib/sqlite3, the SQL to
# PREFIX/share/evalci/sql.  The commands in the SQL files work as written if they are run
# in PREFIX/share/evalci.
PREFIX  ?= /usr/local
LIBRARY := $(notdir $(wildcard build/evalci.*))
PROGRAM := $(wildcard build/bin/evalci*)

.PHONY: all install
all:
	@echo "Nothing to build. Try it here:     $(PROGRAM) sql 'SELECT bayes_ci_counts(18, 20)'"
	@echo "or in the sqlite3 shell:           sqlite3 :memory: '.load build/evalci' 'SELECT bayes_ci_counts(18, 20)'"
	@echo "Install it, if necessary as root:  make install [PREFIX=/usr/local]"

install:
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/sqlite3 $(DESTDIR)$(PREFIX)/share/evalci \
	  $(DESTDIR)$(PREFIX)/share/doc/evalci
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/
	install -m 755 build/$(LIBRARY) $(DESTDIR)$(PREFIX)/lib/sqlite3/
	cp -R sql $(DESTDIR)$(PREFIX)/share/evalci/
	ln -sfn ../../lib/sqlite3 $(DESTDIR)$(PREFIX)/share/evalci/build
	install -m 644 README.md LICENSE NOTICES.txt SOURCES.txt $(DESTDIR)$(PREFIX)/share/doc/evalci/
	@echo "The program is                      $(PREFIX)/bin/$(notdir $(PROGRAM))"
	@echo "Load it in the sqlite3 shell with:  .load $(PREFIX)/lib/sqlite3/evalci"
	@echo "The SQL that comes with it is in    $(PREFIX)/share/evalci/sql"
