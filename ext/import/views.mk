# The views of sql/adapters as lines of C, temporary ones: views.c has them within it.
VIEWS := build/sql/promptfoo.inc build/sql/phoenix.inc
build/sql/%.inc: sql/adapters/%.sql
	@mkdir -p $(@D)
	@sed -e '/^--/d; /^DROP VIEW/d; s/^CREATE VIEW/CREATE TEMP VIEW/' -e 's/[\\"]/\\&/g; s/.*/"&\\n",/' $< >$@
