-- The number of pairs of an unsolved pattern and any pattern that agree on a column set.
-- Parameters: :keys  of the packed, :unsolved_keys  of the unsolved patterns;  :groups, :unsolved_groups  the same
--             :agree  of the classes packed and unsolved
-- Result: one row: the number of pairs, as a float
SELECT COALESCE(SUM(CAST(packed.patterns AS DOUBLE) * unsolved.patterns), 0)
FROM (SELECT COUNT(*) AS patterns, :keys FROM packed GROUP BY :groups) AS packed
JOIN (SELECT COUNT(*) AS patterns, :unsolved_keys FROM unsolved GROUP BY :unsolved_groups) AS unsolved ON :agree
