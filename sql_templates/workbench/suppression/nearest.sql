-- The lightest difference of each unsolved pattern to another pattern, among the pairs that a condition joins.
-- Parameters: :unsolved  the table, or radii.sql;  :joined  the condition on unsolved and packed
--             :radius  the maximum weight of a difference: a number, or a column of unsolved
--             :differences  d0, ... of both;  :weight, :mask  of d0, ...
-- Result: pattern, best: its weight * 2^63 + the column set, so that the smallest number wins among equals
SELECT pattern, MIN(CAST(weight AS HUGEINT) * 9223372036854775808 + :mask) AS best
FROM (
  SELECT *, :weight AS weight
  FROM (
    SELECT unsolved.pattern, packed.pattern AS other, :radius AS radius, :differences
    FROM :unsolved JOIN packed ON :joined
  ) AS pairs
) AS weighed
WHERE weight <= radius AND pattern <> other
GROUP BY pattern
