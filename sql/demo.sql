-- The demo: nine models, 20 questions each.  make demo runs this file.
--
-- Right answers out of 20 on LangChain's typewriter tool-use task, as published
-- in Bowyer, Aitchison and Ivanova (ICML 2025).  It was not published which
-- questions each model got right.  So each model has items of its own here, and
-- models are not compared question by question.
DROP TABLE IF EXISTS results;
CREATE TABLE results(model TEXT, task TEXT, item TEXT, attempt INTEGER, correct INTEGER);
WITH published(model, k) AS (
  VALUES ('claude-2.1', 20), ('gpt-4-1106-preview', 18), ('mixtral-8x7b-instruct', 12),
         ('gpt-3.5-turbo-0613', 10), ('gpt-4-0613', 8), ('gpt-3.5-turbo-1106', 5),
         ('llama-v2-70b-chat', 2), ('mistral-7b-instruct', 1), ('llama-v2-13b-chat', 0)),
questions(question) AS (
  SELECT 1 UNION ALL SELECT question + 1 FROM questions WHERE question < 20)
INSERT INTO results SELECT model, 'typewriter', model || ' #' || question, 1, question <= k FROM published, questions;

-- The leaderboard.  The CLT column collapses at 20/20 and 0/20, as if 20
-- questions could prove a model perfect or hopeless, and leaves [0%,100%] near
-- them.  The Bayesian column does neither.
.mode box
SELECT model,
       sum(correct) || '/' || count(*)             AS score,
       ci_text(clt_ci(correct))                    AS "CLT 95%",
       ci_bar(clt_ci(correct), avg(correct), 20)   AS "0%              100%",
       ci_text(bayes_ci(correct))                  AS "Bayes 95%",
       ci_bar(bayes_ci(correct), avg(correct), 20) AS "0%              100%"
FROM results
GROUP BY model
ORDER BY avg(correct) DESC;
