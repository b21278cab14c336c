-- Result: the column sets that have the NULLs of a pattern, the most patterns first
SELECT nulls, COUNT(*) FROM unverified GROUP BY nulls ORDER BY COUNT(*) DESC, nulls
