-- A gate for CI: may the candidate replace the baseline?  From the top of the
-- project, over results (see schema.sql), which is only read:
--
--   sqlite3 -bail evals.db '.load build/evalci' ".parameter set @baseline \"'old'\"" \
--     ".parameter set @candidate \"'new'\"" '.read sql/gate.sql'
--
-- sql/gate.sh does that with any names, and ends with a status for CI.
--
--   @baseline, @candidate   two models, compared on the questions that both were asked; or a
--                           number between 0 and 1 as the baseline, which the candidate's
--                           accuracy is to reach
--   @margin                 how much worse is still acceptable, 0.02 unless set
--   @sure                   how sure to be, 0.95 unless set, between 0.5 and 1
--   @options                those of eval_gate, as '{"errors":"skip"}'; none unless set
--
-- It prints a line for people and one of JSON.  The result is
--
--   pass     that surely, the candidate is no worse than the margin: no_worse_prob
--   fail     that surely, it is worse than the margin: the same with the models exchanged
--   unsure   neither: there are not enough questions.  more says how many more
--            would probably (8 times of 10) settle it if the two go on as they did
--            here; NULL if no number would
SELECT message || char(10) ||
       json_object('result', result, 'baseline', baseline, 'candidate', candidate, 'questions', questions, 'method', method,
                   'diff', diff, 'lo', lo, 'hi', hi, 'margin', margin, 'sure', sure, 'prob', prob, 'more', more,
                   'accuracy_baseline', accuracy_baseline, 'accuracy_candidate', accuracy_candidate,
                   'errored_baseline', errored_baseline, 'errored_candidate', errored_candidate)
FROM eval_gate('results', @options, @baseline, @candidate, coalesce(@margin, 0.02), coalesce(@sure, 0.95));
