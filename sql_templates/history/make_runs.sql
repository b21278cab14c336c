-- The table runs: one row per run of qidsql. Times are in UTC.
--   number      in the order of recording, independent of the clock
--   verdict     pass, violation, error or inconclusive: the worst of its tables
--   complete    every table was reached; later runs are compared with complete runs only
--   config_hash sha256 of the policy file
--   baseline    the run that its findings were compared with
--   document    the run document without its tables, as JSON
CREATE TABLE IF NOT EXISTS runs (
  number BIGINT NOT NULL PRIMARY KEY,
  run TEXT NOT NULL UNIQUE,
  started TIMESTAMP NOT NULL,
  finished TIMESTAMP NOT NULL,
  seconds DOUBLE NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  complete BOOLEAN NOT NULL,
  config_path TEXT,
  config_hash TEXT,
  qidsql TEXT NOT NULL,
  fail_on TEXT NOT NULL,
  baseline TEXT,
  statements BIGINT NOT NULL,
  tables BIGINT NOT NULL,
  document TEXT NOT NULL
)
