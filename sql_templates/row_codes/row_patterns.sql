-- Row patterns: the distinct rows over some columns, each with its number of rows, every value replaced by its code:
-- its place in a shuffled order of its column's values (dictionary.sql). A NULL has no code and stays NULL. The key of
-- the shuffle is a hash of all rows: the same data gives the same codes each time, and without the data the order of
-- the codes reveals nothing.
-- Parameters: :relation  the audited rows
--             :columns   the columns;  :aliased  the same AS v0, v1, ...;  :row_hash  v0, v1, ... hashed to an integer
--             :places    d0.place AS c0, d1.place AS c1, ... of the dictionaries (dictionary.sql) joined to it
--             :shuffle_key  that of the CTE, in one row at least
-- Result: one row per pattern: size, c0, c1, ..., shuffle_key (NULL in other rows)
WITH classes AS (
  SELECT COUNT(*) AS size, :aliased
  FROM :relation
  GROUP BY :columns
), shuffle AS (
  SELECT CAST(SUM(CAST(:row_hash AS WIDE) * size) AS VARCHAR) AS shuffle_key
  FROM classes
)
SELECT
  classes.size,
  :places,
  :shuffle_key AS shuffle_key
FROM classes
