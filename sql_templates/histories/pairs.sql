-- The pairs of different rows of one person, in all, each counted twice: what known_rows.sql compares.
-- Parameters: :relation  the audited rows
--             :columns   the column set;  :aliased  the same AS c0, c1, ...
--             :entity    the column that identifies persons
-- Result: one row: twice the pairs
SELECT SUM(CAST(items AS WIDE) * (items - 1)) AS twice
FROM (
  SELECT person, COUNT(*) AS items
  FROM (
    SELECT :aliased, :entity AS person
    FROM :relation
    WHERE NOT :entity IS NULL
    GROUP BY :columns, :entity
  ) AS known
  GROUP BY person
) AS persons
