-- The rows of a table with the lightest cells blank that leave no unsafe combination, whatever the table holds by then:
-- of the column sets tried, the first that k rows agree with on the rest of the columns.
-- Parameters: :originals  the columns of the result AS o0, o1, ...
--             :mask       the column set to suppress, as a bit mask: CASE WHEN COUNT(*) OVER (...) >= k THEN ... END
--             :table, :condition  the rows
--             :published  the columns of the result, blank where planned.mask says so
-- Result: one row per row of the table: the columns of the result
SELECT :published
FROM (SELECT :originals, :mask AS mask FROM :table WHERE :condition) AS planned
