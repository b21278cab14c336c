-- The number of rows that match each unverified pattern, among the rows whose NULLs together with the pattern's are
-- exactly a given column set.
-- Parameters: :nulls  the column set;  :outside  all others
--             :keys   the others' key of all patterns;  :groups  the same
--             :agree  that key equals the unverified pattern's
-- Result: pattern, members (rows)
SELECT unverified.pattern, SUM(classes.members) AS members
FROM unverified
JOIN (
  SELECT :keys, others.nulls, SUM(others.size) AS members
  FROM everyone AS others
  WHERE (others.nulls & :outside) = 0
  GROUP BY :groups, others.nulls
) AS classes ON :agree AND (unverified.nulls | classes.nulls) = :nulls
WHERE (unverified.nulls & :outside) = 0
GROUP BY unverified.pattern
