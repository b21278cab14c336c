-- Result: document, of a table that could be resumed
SELECT document FROM unfinished WHERE run = :run AND source = :source AND table_name = :table_name AND question = :question
