-- Checks an anonymization: counts groups that are too small, and patterns whose rows are not all placed.
-- Parameters: :key  the common values of a group's rows: LIST_VALUE(CASE WHEN kept has c0 THEN c0 ELSE -1 END, ...)
--             :k
-- Result: one row: groups of fewer than k rows, patterns whose shares do not add up to their rows
SELECT
  (
    SELECT COUNT(*)
    FROM (SELECT 1 FROM shares JOIN patterns USING (pattern) GROUP BY :key HAVING SUM(shares.size) < :k) AS small
  ),
  (
    SELECT COUNT(*)
    FROM patterns LEFT JOIN (SELECT pattern, SUM(size) AS placed FROM shares GROUP BY pattern) AS found USING (pattern)
    WHERE patterns.size <> COALESCE(placed, 0)
  )
