-- The rows of a table with the lightest cells blanked that leave no unsafe combination. The cells are chosen from the
-- rows at the time of the query: per row, the first of the tried column sets whose other columns k rows agree on.
-- Parameters: :originals  the columns of the result AS o0, o1, ...
--             :mask       the column set to suppress, as a bit mask: CASE WHEN COUNT(*) OVER (...) >= k THEN ... END
--             :table, :condition  the rows
--             :published  the columns of the result, blank where planned.mask has their bit
-- Result: one row per row of the table: the columns of the result
SELECT :published
FROM (SELECT :originals, :mask AS mask FROM :table WHERE :condition) AS planned
