-- The table alert_findings: the violations of a table when an alert last reported it; later ones that are worse are
-- reported again.
--   finding     as in the table findings; smallest the smallest class, whole all rows (entities)
CREATE TABLE IF NOT EXISTS alert_findings (
  alert TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  finding TEXT NOT NULL,
  smallest BIGINT NOT NULL,
  rows_below_k BIGINT NOT NULL,
  whole BIGINT NOT NULL
)
