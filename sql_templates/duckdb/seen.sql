-- What a session sees of a table: the names of its columns, the number of its rows, and the sum of their hashes. Two
-- sessions that see other rows have another answer, unless sums of 64-bit hashes happen to be equal. Values whose hash
-- depends on a collation, or is the same for values that a reader can distinguish, are hashed by their text. The rows as
-- one value would need struct_pack, by a name that a macro of the session can have.
-- Parameters: :rows a text, the query of the rows
-- Result: one row: seen
SELECT system.main.concat_ws(' ', *COLUMNS(*)) AS seen
FROM (
  SELECT
    system.main.first(system.main.alias(COLUMNS('^cell '))),
    system.main.count(*) AS row_count,
    system.main.sum(digest) AS digests
  FROM (
    SELECT COLUMNS('^cell '), system.main.hash(*COLUMNS('^cell ')) AS digest
    FROM (
      SELECT
        CASE
          WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(*)), 'INTERVAL|VARIANT|UNION|VARCHAR|JSON')
          THEN system.main.hash(system.main.encode(CAST(COLUMNS(*) AS VARCHAR)))
          ELSE system.main.hash(COLUMNS(*))
        END AS "cell \0"
      FROM system.main.query(:rows)
    )
  )
)
