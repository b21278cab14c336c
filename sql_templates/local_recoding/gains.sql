-- What rows gain by showing a level of a column, too.
-- Parameters: :place     the column's number
--             :labelled  the coded values of the column: code, leaves1, ...;  :gain  of a step
--             :steps     the levels that the column may show: step, finer (the mask)
-- Result: place, finer, path (the bits of a code), gain
SELECT DISTINCT
  :place AS place,
  CAST(finer AS BIGINT) AS finer,
  code & CAST(finer AS BIGINT) AS path,
  CAST(:gain AS BIGINT) AS gain
FROM :labelled
CROSS JOIN :steps
