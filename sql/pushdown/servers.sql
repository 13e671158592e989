-- On each server of a cluster (see cluster.sql), in the database that holds its part
-- of the rows in a table or view results.  From the top of the project, by psql:
--
--   psql -h SERVER -f sql/pushdown/servers.sql
--
-- items.sql, pairs.sql and diffs.sql group what has been grouped already, and
-- postgres_fdw sends one grouping at most: it would fetch a row a question.  As views
-- here, each server does both, and what is fetched are counts.
\set items `cat sql/pushdown/items.sql`
\set pairs `cat sql/pushdown/pairs.sql`
\set diffs `cat sql/pushdown/diffs.sql`
CREATE OR REPLACE VIEW item_counts AS
:items
CREATE OR REPLACE VIEW pair_counts AS
:pairs
CREATE OR REPLACE VIEW diff_counts AS
:diffs
