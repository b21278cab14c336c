-- Every row with a key chosen by the user, each value of the other columns replaced by its code in row_patterns.sql.
-- Parameters: :key       the key as text
--             :relation  the audited rows
--             :aliased   the columns AS v0, v1, ...
--             :places    d0.place AS c0, d1.place AS c1, ... of the dictionaries (dictionary.sql) joined to it
-- Result: one row per row: key, c0, c1, ...
WITH classes AS (
  SELECT :key AS key_text, :aliased
  FROM :relation
)
SELECT classes.key_text, :places
FROM classes
