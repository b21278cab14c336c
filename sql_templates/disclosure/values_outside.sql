-- How many different values of a sensitive column are not listed. NULL is one of them.
-- Parameters: :relation  the audited rows;  :sensitive  the sensitive column;  :listed  rows of: text of a value
-- Result: value_count, null_count (1 or 0)
WITH listed(value_text) AS (
  SELECT * FROM :listed
), found AS (
  SELECT CAST(:sensitive AS TEXT) AS value_text
  FROM :relation
  GROUP BY :sensitive
)
SELECT
  COUNT(*) AS value_count,
  COUNT(*) - COUNT(value_text) AS null_count
FROM found
WHERE NOT EXISTS (
  SELECT 1 AS there
  FROM listed
  WHERE listed.value_text = found.value_text
)
