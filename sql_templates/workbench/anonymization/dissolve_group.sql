-- Fully suppresses the rows of the cheapest group, so that fewer than k rows left over form a group with them.
-- Parameters: :key     the common values of a group's rows: LIST_VALUE(CASE WHEN kept has c0 THEN c0 ELSE -1 END, ...)
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
