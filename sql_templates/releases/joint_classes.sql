-- The persons of several releases by their class in each: who is in the last one and in an earlier one, who came, who left.
-- Parameters: :rows     the rows of all: key_value, release_number (0: the last one), class_text
--             :classes  the class in each release AS r0, r1, ...; NULL where the person is not;  :names  r0, r1, ...
--             :k
-- Result: kind (both, came, left), person_count, smallest, below, alone
WITH persons AS (
  SELECT COUNT(*) AS release_count, :classes
  FROM :rows
  GROUP BY key_value
)
SELECT
  kind,
  SUM(class_size) AS person_count,
  MIN(class_size) AS smallest,
  SUM(CASE WHEN class_size < :k THEN class_size ELSE 0 END) AS below,
  SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS alone
FROM (
  SELECT
    CASE WHEN r0 IS NULL THEN 'left' WHEN release_count = 1 THEN 'came' ELSE 'both' END AS kind,
    COUNT(*) AS class_size
  FROM persons
  GROUP BY release_count, :names
) AS classes
GROUP BY kind
