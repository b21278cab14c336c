-- Row patterns: the distinct rows over some columns, each with its number of rows, every value replaced by its place
-- in the order of its column's values. A NULL has no place and stays NULL. The same state of the data gives the same
-- numbers each time.
-- Parameters: :relation  the audited rows
--             :columns   the columns;  :aliased  the same AS v0, v1, ...
--             :places    d0.place AS c0, d1.place AS c1, ... of the dictionaries (dictionary.sql), which are joined to it
-- Result: one row per pattern: size, c0, c1, ...
WITH classes AS (
  SELECT COUNT(*) AS size, :aliased
  FROM :relation
  GROUP BY :columns
)
SELECT classes.size, :places
FROM classes
