# The views of sql/adapters as temporary views, in lines of C that views.c includes.
VIEWS := build/sql/promptfoo.inc build/sql/phoenix.inc
build/sql/%.inc: sql/adapters/%.sql
	@mkdir -p $(@D)
	@sed -e '/^--/d; /^DROP VIEW/d; s/^CREATE VIEW/CREATE TEMP VIEW/' -e 's/[\\"]/\\&/g; s/.*/"&\\n",/' $< >$@
