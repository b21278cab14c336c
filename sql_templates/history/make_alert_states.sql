-- The table alert_states: the verdict on each table that each alert told last, so that alerts are about changes alone.
--   table_name  and source are empty for what concerns a whole run
--   run         the one that brought the verdict; told when, in UTC
CREATE TABLE IF NOT EXISTS alert_states (
  alert TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  verdict TEXT NOT NULL,
  run TEXT NOT NULL,
  told TIMESTAMP NOT NULL
)
