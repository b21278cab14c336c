-- The different rows of each person: how often each is there, its number among all different rows, and how many persons
-- have it. NULL equals NULL in a row; rows without a person are left out.
-- Parameters: :relation  the audited rows
--             :columns   the column set;  :aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :entity    the column that identifies persons
-- Result: person, copies, item, having_it (persons): a row per person and different row
WITH known AS (
  SELECT :aliased, :entity AS person, COUNT(*) AS copies
  FROM :relation
  WHERE NOT :entity IS NULL
  GROUP BY :columns, :entity
)
SELECT
  person,
  copies,
  DENSE_RANK() OVER (ORDER BY :names) AS item,
  COUNT(*) OVER (PARTITION BY :names) AS having_it
FROM known
