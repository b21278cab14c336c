-- Limits each statement of this transaction to one process.
-- Result: one row, not used
SELECT set_config('max_parallel_workers_per_gather', '0', TRUE) AS value
