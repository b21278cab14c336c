-- What a run has audited.
-- Parameters: :run
-- Result: source, table_name, of each table of a run
SELECT source, table_name FROM table_audits WHERE run = :run ORDER BY place
