-- The table alert_findings: the violations of a table when an alert last reported it; later ones that are worse are
-- reported again.
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
