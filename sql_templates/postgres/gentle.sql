-- Keeps this transaction's statements to one process each.
-- Result: one row, of no interest
SELECT set_config('max_parallel_workers_per_gather', '0', TRUE) AS value
