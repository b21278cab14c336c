-- The sets of row patterns that suppression could make identical, with the column set that they would keep. Row
-- patterns that agree on a column set can share the anonymization pattern of their common values. Only those with at
-- least k rows are useful, and of several column sets that the same patterns agree on only the heaviest, which
-- suppresses least.
-- Parameters: :source   row patterns with their rows: pattern, size, c0, c1, ...
--             :columns  c0, c1, ...
--             :kept     the column set as a bit mask, by GROUPING
--             :weight   the weight of the columns kept
--             :k        rows that must be identical
-- Result: one row per group: the column set kept, the row patterns
SELECT ARG_MAX(kept, (weight, -kept)) AS kept, members
FROM (
  SELECT LIST(pattern ORDER BY pattern) AS members, :kept AS kept, :weight AS weight
  FROM :source
  GROUP BY CUBE (:columns)
  HAVING SUM(size) >= :k
) AS shared
GROUP BY members
ORDER BY members
