-- The table alert_states: the last verdict that each alert reported for each table, so that alerts report only changes.
--   table_name  and source are empty for a whole run
--   run         the run with this verdict; told when it was reported, in UTC
CREATE TABLE IF NOT EXISTS alert_states (
  alert TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  verdict TEXT NOT NULL,
  run TEXT NOT NULL,
  told TIMESTAMP NOT NULL
)
