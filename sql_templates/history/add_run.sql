-- A run; its number is the next. The caller holds the lock, so that there is no other of that number.
-- Parameters: as the columns of the table: :number, :run, :started, :finished, :seconds, :verdict, :reason,
--   :complete, :config_path, :config_hash, :qidsql, :fail_on, :baseline, :statements, :tables, :document
INSERT INTO runs (
  number, run, started, finished, seconds, verdict, reason, complete, config_path, config_hash, qidsql, fail_on, baseline,
  statements, tables, document
) VALUES (
  :number, :run, :started, :finished, :seconds, :verdict, :reason, :complete, :config_path, :config_hash, :qidsql,
  :fail_on, :baseline, :statements, :tables, :document
)
