-- The number of values of each column that lose cells and that lose all of them, and the values that lose most.
-- Parameters: :lost  suppressed_values.sql of all columns;  :most  the number of values listed
-- Result: one row per column and listed value: place, values, values gone, code, cells lost, cells it had
SELECT place, touched, gone, code, lost, had
FROM (
  SELECT
    *,
    SUM(CASE WHEN code <> 0 THEN 1 ELSE 0 END) OVER (PARTITION BY place) AS touched,
    SUM(CASE WHEN code <> 0 AND lost = had THEN 1 ELSE 0 END) OVER (PARTITION BY place) AS gone,
    ROW_NUMBER() OVER (PARTITION BY place ORDER BY lost DESC, code) AS position
  FROM :lost
) AS ranked
WHERE position <= :most
ORDER BY place, position
