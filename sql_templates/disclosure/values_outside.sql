-- How many different values of a sensitive column are not in a hierarchy. NULL is one of them: no hierarchy has it.
-- Parameters: :relation   the audited rows;  :sensitive  the sensitive column
--             :hierarchy  rows of: text of a value, ... (as in distant_in_hierarchy.sql)
-- Result: value_count, null_count (1 or 0)
WITH hierarchy(value_text, level, child, parent) AS (
  SELECT * FROM :hierarchy
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
  SELECT 1 AS listed
  FROM hierarchy
  WHERE hierarchy.value_text = found.value_text
)
