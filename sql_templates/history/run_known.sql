-- Is the run recorded?
-- Parameters: :run
-- Result: 1 where the run is recorded already
SELECT COUNT(*) FROM runs WHERE run = :run
