-- The same as coded.sql, for engines that join equal rows, NULLs too, by their hashes: a number for each different row
-- of the table is joined to the rows of persons, which costs less than a window over these.
-- Parameters: :relation  the audited rows
--             :columns   the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :entity    the column that identifies persons
--             :same      c0, c1, ... of known and of numbered are equal, NULL to NULL
-- Result: person, copies, item, having_it (persons): a row per person and different row
WITH known AS MATERIALIZED (
  SELECT :aliased, :entity AS person, COUNT(*) AS copies
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :columns, :entity
), numbered AS (
  SELECT :names, ROW_NUMBER() OVER (ORDER BY :names) AS item, COUNT(*) AS having_it
  FROM known
  GROUP BY :names
)
SELECT known.person, known.copies, numbered.item, numbered.having_it
FROM known
JOIN numbered ON :same
