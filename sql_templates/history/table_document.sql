-- One table of a run.
-- Parameters: :run, :source, :table_name
-- Result: document, of one table of a run
SELECT document FROM table_audits WHERE run = :run AND source = :source AND table_name = :table_name
