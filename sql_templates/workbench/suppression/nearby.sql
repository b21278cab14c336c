-- The differences of some unsolved patterns to all others, without those that are too heavy to matter: the lightest
-- union weighs no more than the union of the nearest records that are enough.
-- Parameters: :some  the number of unsolved patterns taken;  :k
--             :differences  d0, ... of unsolved and packed
--             :weight, :mask  of d0, ...;  :union_weight  of mask
-- Result: pattern, needed, mask, weight, records
WITH chunk AS MATERIALIZED (SELECT * FROM unsolved ORDER BY pattern LIMIT :some),
found AS MATERIALIZED (
  SELECT pattern, needed, mask, weight, SUM(size) AS records
  FROM (
    SELECT pattern, other, needed, size, :mask AS mask, :weight AS weight
    FROM (
      SELECT unsolved.pattern, packed.pattern AS other, :k - unsolved.size AS needed, packed.size, :differences
      FROM chunk AS unsolved CROSS JOIN packed
    ) AS pairs
  ) AS weighed
  WHERE pattern <> other
  GROUP BY pattern, needed, mask, weight
),
ordered AS (
  SELECT *, SUM(records) OVER (PARTITION BY pattern ORDER BY weight, mask) - records AS nearer FROM found
),
bounds AS (
  SELECT pattern, :union_weight AS bound
  FROM (SELECT pattern, BIT_OR(mask) AS mask FROM ordered WHERE nearer < needed GROUP BY pattern) AS unions
)
SELECT found.pattern, found.needed, found.mask, found.weight, found.records
FROM found JOIN bounds ON found.pattern = bounds.pattern AND found.weight <= bounds.bound
ORDER BY found.pattern
