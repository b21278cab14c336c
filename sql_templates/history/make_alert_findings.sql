-- The table alert_findings: what was broken of the policy when an alert last told of a table, so that it can tell of
-- worse.
--   finding     as in the table findings; k the smallest class, at_risk the rows (entities) below k, whole all of them
CREATE TABLE IF NOT EXISTS alert_findings (
  alert TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  finding TEXT NOT NULL,
  k BIGINT NOT NULL,
  at_risk BIGINT NOT NULL,
  whole BIGINT NOT NULL
)
