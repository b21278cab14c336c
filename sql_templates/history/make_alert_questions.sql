-- The table alert_questions: what the policy of a table asked when an alert last told of it, as a fingerprint: what is
-- broken now compares with what was told where it is the same.
CREATE TABLE IF NOT EXISTS alert_questions (
  alert TEXT NOT NULL,
  source TEXT NOT NULL,
  table_name TEXT NOT NULL,
  question TEXT NOT NULL
)
