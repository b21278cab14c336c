-- The schema of unqualified names, its database, and the limits of the work.
-- Result: one row: schema_name, database_name, threads, memory_limit ("1.8 GiB"), spilled_at_most ("0 bytes", or words)
SELECT
  system.main.current_schema() AS schema_name,
  system.main.current_database() AS database_name,
  system.main.current_setting('threads') AS threads,
  system.main.current_setting('memory_limit') AS memory_limit,
  system.main.current_setting('max_temp_directory_size') AS spilled_at_most
