-- The unsolved patterns, each with the weight of its lightest difference to any other pattern as its radius.
-- Parameters: :differences  d0, ... of unsolved and packed;  :weight  of d0, ...
-- Result: the columns of unsolved, radius
SELECT unsolved.*, radius
FROM unsolved
JOIN (
  SELECT pattern, MIN(:weight) AS radius
  FROM (
    SELECT unsolved.pattern, packed.pattern AS other, :differences FROM unsolved CROSS JOIN packed
  ) AS pairs
  WHERE pattern <> other
  GROUP BY pattern
) AS nearest ON unsolved.pattern = nearest.pattern
