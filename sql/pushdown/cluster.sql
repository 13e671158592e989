-- Counts rows that are spread over several PostgreSQL servers: each server counts its own
-- part, by the other files here, and the counts are added up.  This is exact as long as all
-- answers to a question are on one server, which a partition by a hash of task and item
-- ensures.
--
-- On one more server, or in another database of one of them, name all servers, so that
-- they work at the same time:
--
--   CREATE EXTENSION postgres_fdw;
--   CREATE SERVER shard_1 FOREIGN DATA WRAPPER postgres_fdw
--     OPTIONS (host '10.0.0.1', dbname 'evals', async_capable 'true', batch_size '1000');
--   CREATE USER MAPPING FOR CURRENT_USER SERVER shard_1 OPTIONS (user 'evals', password '...');
--
-- and so on.  Then, in the top folder of the project:
--
--   psql -h 10.0.0.1 -f sql/pushdown/asked.sql            and the others
--   psql -v ON_ERROR_STOP=1 -f sql/pushdown/cluster.sql
--   for counts in model task item pair score diff; do
--     psql -X --csv -v ON_ERROR_STOP=1 -c "TABLE ${counts}_counts" > ${counts}s.csv || break
--   done
--
-- and finish.sql computes the rest.  If a server is down, or goes down meanwhile, the result
-- is an error and no counts, never the counts of the others alone.
--
-- This file also creates the partitioned table results, for loading and for your own
-- queries: a row inserted there goes to the server of its question.
BEGIN;
\set models `cat sql/pushdown/models.sql`
\set tasks  `cat sql/pushdown/tasks.sql`
\set items  `cat sql/pushdown/items.sql`
\set pairs  `cat sql/pushdown/pairs.sql`
\set scores `cat sql/pushdown/scores.sql`
\set diffs  `cat sql/pushdown/diffs.sql`

-- One schema per server, with its table and the views of asked.sql.  A query reads those of
-- the schema in which it is created.  Each groups once, so its grouping is sent to the server.
SELECT format('CREATE SCHEMA %I', srvname),
       format('IMPORT FOREIGN SCHEMA public LIMIT TO (results, shares, asked, met) FROM SERVER %I INTO %1$I', srvname),
       format('SET LOCAL search_path = %I', srvname),
       'CREATE VIEW model_counts AS ' || :'models',
       'CREATE VIEW task_counts AS ' || :'tasks',
       'CREATE VIEW item_counts AS ' || :'items',
       'CREATE VIEW pair_counts AS ' || :'pairs',
       'CREATE VIEW score_counts AS ' || :'scores',
       'CREATE VIEW diff_counts AS ' || :'diffs'
FROM pg_foreign_server ORDER BY srvname
\gexec
SET LOCAL search_path = public;

SELECT format('CREATE TABLE results(LIKE %I.results) PARTITION BY HASH (task, item)', min(srvname))
FROM pg_foreign_server
\gexec
SELECT format('ALTER TABLE results ATTACH PARTITION %I.results FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
              srvname, count(*) OVER (), row_number() OVER (ORDER BY srvname) - 1)
FROM pg_foreign_server
\gexec

-- The sums of the servers' counts, in the columns of the query.
WITH counts(name, keys, sums) AS (
  VALUES ('model_counts', ARRAY['model'],                         ARRAY['k', 'n', 'errored', 'invalid']),
         ('task_counts',  ARRAY['model', 'task', 'graded'], ARRAY['outside', 'k', 'n', 'questions', 'units', 'rest']),
         ('item_counts',  ARRAY['model', 'graded', 'outside', 'total', 'n'], ARRAY['items']),
         ('pair_counts',  ARRAY['model_a', 'model_b', 'graded', 'outside', 'total_a', 'n_a', 'total_b', 'n_b'], ARRAY['items']),
         ('score_counts', ARRAY['model', 'score'],                ARRAY['n']),
         ('diff_counts',  ARRAY['model_a', 'model_b', 'task'], ARRAY['outside', 'units', 'rest', 'n'])
)
SELECT format('CREATE VIEW %I AS SELECT %s, %s FROM (%s) AS servers GROUP BY %2$s', name,
              array_to_string(keys, ', '),
              (SELECT string_agg(format('sum(%I) AS %1$I', s), ', ') FROM unnest(sums) AS s),
              (SELECT string_agg(format('SELECT * FROM %I.%I', srvname, name), ' UNION ALL ' ORDER BY srvname)
               FROM pg_foreign_server))
FROM counts
\gexec
COMMIT;
