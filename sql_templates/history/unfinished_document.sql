-- What is kept of a table that could be resumed.
-- Parameters: :run, :source, :table_name, :question
-- Result: document, of a table that could be resumed
SELECT document FROM unfinished WHERE run = :run AND source = :source AND table_name = :table_name AND question = :question
