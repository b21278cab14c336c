-- Keeps this transaction's statements to one process each.
SELECT set_config('max_parallel_workers_per_gather', '0', TRUE) AS value
