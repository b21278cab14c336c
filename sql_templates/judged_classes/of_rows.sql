-- Figures of the classes of some rows that miss a rule.
-- Parameters: :columns  what decides a class AS c0, c1, ..., n rows, what else a rule is about (person, sensitive0, ...),
--             and figures of the rows AS s0, s1, ...;  :rows  of these
--             :figures  of :judged, a query over `masked`
-- Result: the figures, or one row per class with them
WITH masked AS (
  SELECT :columns FROM :rows
)
SELECT :figures
FROM :judged
