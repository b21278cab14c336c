-- The table unfinished: tables that a run has audited but not yet recorded. An interrupted run is resumed from them;
-- the rows are deleted when a later run of the same tables is recorded.
--   question    sha256 of policy and version
--   document    as in table_audits
--   token       the state of the source; the result remains valid while the state is the same
CREATE TABLE IF NOT EXISTS unfinished (
  run TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  question TEXT NOT NULL,
  token TEXT NOT NULL,
  kept TIMESTAMP NOT NULL,
  document VARBINARY NOT NULL
)
