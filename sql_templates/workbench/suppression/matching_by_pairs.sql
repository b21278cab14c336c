-- The number of rows that match each unverified pattern, by comparing it with every pattern.
-- Parameters: :differences  d0, ... of unverified and packed;  :same  whether these are all 0
-- Result: pattern, members (rows)
SELECT pattern, SUM(size) AS members
FROM (SELECT unverified.pattern, packed.size, :differences FROM unverified CROSS JOIN packed) AS pairs
WHERE :same
GROUP BY pattern
