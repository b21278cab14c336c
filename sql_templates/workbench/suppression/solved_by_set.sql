-- The unsolved patterns that k rows agree with on a column set.
-- Parameters: :mask    the other columns, as a bit mask
--             :rows    packed, or those packed patterns that can matter for the remaining patterns
--             :keys    the set's key of the packed patterns;  :groups  the same;  :k
--             :agree   the key of packed patterns equals that of the unsolved one
-- Result: pattern, mask
SELECT unsolved.pattern, CAST(:mask AS BIGINT) AS mask
FROM unsolved
SEMI JOIN (SELECT :keys FROM :rows GROUP BY :groups HAVING SUM(packed.size) >= :k) AS safe ON :agree
