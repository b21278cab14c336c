-- What a session sees of a table: the names of its columns, the number of its rows, and the sum of their hashes. Two
-- sessions that see other rows have another answer, unless sums of 64-bit hashes happen to be equal. Values whose hash depends on a collation, or is the same for values
-- that a reader can distinguish, are hashed by their text.
-- Parameters: :rows a text, the query of the rows
-- Result: one row: seen
SELECT
  system.main.concat(
    system.main.max(system.main.typeof("qidsql row")), ' ', system.main.count(*), ' ', system.main.sum(digest)
  ) AS seen
FROM (
  SELECT "qidsql row", system.main.hash(*COLUMNS(*)) AS digest
  FROM (
    SELECT
      CASE
        WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(*)), 'INTERVAL|VARIANT|UNION|VARCHAR|JSON')
        THEN system.main.hash(system.main.encode(CAST(COLUMNS(*) AS VARCHAR)))
        ELSE system.main.hash(COLUMNS(*))
      END AS "\0"
    FROM system.main.query(:rows)
  ) AS "qidsql row"
)
