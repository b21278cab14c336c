-- The table unfinished: tables that a run has audited already and not yet recorded; what an interrupted run is resumed
-- from. Rows go when a later run of the same tables is recorded.
--   question    sha256 of policy and version: what was asked
--   document    as in table_audits
--   token       the state of the source; where it still holds, the answer does too
CREATE TABLE IF NOT EXISTS unfinished (
  run TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  question TEXT NOT NULL,
  token TEXT NOT NULL,
  kept TIMESTAMP NOT NULL,
  document VARBINARY NOT NULL
)
