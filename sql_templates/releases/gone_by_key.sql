-- The rows of one release whose key another one does not have, by their classes.
-- Parameters: :own, :other          the rows of the two, with a key
--             :own_key, :other_key  the keys
--             :aliased              the columns of the classes AS c0, c1, ...;  :classes  c0, c1, ...
--             :k
-- Result: gone, gone_below (rows in classes of which fewer than k are gone)
SELECT
  COALESCE(SUM(class_rows), 0) AS gone,
  COALESCE(SUM(CASE WHEN class_rows < :k THEN class_rows ELSE 0 END), 0) AS gone_below
FROM (
  SELECT COUNT(*) AS class_rows
  FROM (SELECT :own_key AS own_key, :aliased FROM :own) AS own_rows
  LEFT JOIN (SELECT :other_key AS other_key FROM :other) AS other_rows ON other_key = own_key
  WHERE other_key IS NULL
  GROUP BY :classes
) AS classes
