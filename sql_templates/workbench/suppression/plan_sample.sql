-- The patterns of the suppression plan that lose most columns, once for each column lost, with that column restored.
-- Parameters: :restored  the bits of single columns, as rows: (1), (2), (4), ...
--             :most      patterns
-- Result: pattern, mask
SELECT lost.pattern, lost.mask - restored.bit AS mask
FROM (
  SELECT pattern, mask FROM plan WHERE mask <> 0 ORDER BY BIT_COUNT(mask) DESC, pattern LIMIT :most
) AS lost
JOIN :restored ON lost.mask & restored.bit <> 0
