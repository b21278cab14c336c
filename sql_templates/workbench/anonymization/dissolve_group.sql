-- The rows of one group, which lose all that they keep, so that fewer than k rows left over have company. The group
-- that costs least.
-- Parameters: :key     what the rows of a group have in common: LIST_VALUE(CASE WHEN kept has c0 THEN c0 ELSE -1 END, ...)
--             :weight  the weight of the columns kept
UPDATE shares
SET kept = 0
FROM (
  SELECT kept AS chosen, :key AS common
  FROM shares JOIN patterns USING (pattern)
  WHERE kept <> 0
  GROUP BY chosen, common
  ORDER BY SUM(shares.size) * ANY_VALUE(:weight), chosen, common
  LIMIT 1
) AS cheapest, patterns
WHERE patterns.pattern = shares.pattern AND shares.kept = cheapest.chosen AND :key = cheapest.common
