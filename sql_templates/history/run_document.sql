-- A run without its tables.
-- Parameters: :run
-- Result: document
SELECT document FROM runs WHERE run = :run
