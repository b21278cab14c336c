-- The table alert_questions: a fingerprint of a table's policy when an alert last reported the table. Violations are
-- compared with those reported last only if the fingerprint is unchanged.
CREATE TABLE IF NOT EXISTS alert_questions (
  alert TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  question TEXT NOT NULL
)
