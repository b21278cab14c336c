-- What could be resumed, newest last.
-- Result: run, source, table_name, question, token
SELECT run, source, table_name, question, token FROM unfinished ORDER BY kept, run
