-- Classes that are not recursive (c,l)-diverse: the commonest value has at least c times the rows of the values from
-- the l-th commonest on; none, if there are fewer values.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  c;  :rank  l
-- Result: as in exceeding.sql; worst is the commonest value's rows / (these and those from the l-th on), in millionths
SELECT
  :names,
  class_size,
  CASE WHEN CAST(commonest AS WIDE) * :denominator >= :numerator * CAST(rare AS WIDE) THEN 1 ELSE 0 END AS exceeds,
  CAST(FLOOR(1000000 * CAST(commonest AS DOUBLE) / (commonest + rare) + 0.5) AS BIGINT) AS worst
FROM (
  SELECT
    :names,
    SUM(cell_size) AS class_size,
    MAX(cell_size) AS commonest,
    SUM(CASE WHEN place >= :rank THEN cell_size ELSE 0 END) AS rare
  FROM (
    SELECT cells.*, ROW_NUMBER() OVER (PARTITION BY :names ORDER BY cell_size DESC) AS place
    FROM cells
  ) AS ranked
  GROUP BY :names
) AS measured
