-- The tables of a run, in the order of the policy file.
-- Parameters: :run
-- Result: document, of each table of a run
SELECT document FROM table_audits WHERE run = :run ORDER BY place
