-- How many values of each column lose cells, and how many lose all, with those that lose most.
-- Parameters: :lost  suppressed_values.sql of all columns;  :most  how many values are named
-- Result: one row per column and named value: place, values, values gone, code, cells lost, cells it had
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
