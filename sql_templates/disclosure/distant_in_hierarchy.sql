-- Classes whose values are further than t from those of the table by the distance of a hierarchy: what has to be moved
-- between the children of a node costs the height of the node, divided by that of the hierarchy.
-- Parameters: :names      c0, c1, ...;  :numerator, :denominator  t;  :height  levels above the values
--             :hierarchy  rows of: text of a value, level (1 or more), its node one level below, its node at the level
-- Result: as in exceeding.sql; worst is the distance in millionths
WITH hierarchy(value_text, level, child, parent) AS (
  SELECT * FROM :hierarchy
), values_in_classes AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY :names) AS class_number,
    CAST(sensitive_value AS TEXT) AS value_text,
    cell_size,
    class_size,
    row_count
  FROM shares
), children AS (
  SELECT
    class_number,
    level,
    parent,
    child,
    MAX(class_size) AS class_size,
    MAX(row_count) AS row_count,
    SUM(cell_size) AS child_size
  FROM values_in_classes
  JOIN hierarchy USING (value_text)
  GROUP BY class_number, level, parent, child
), compared AS (
  SELECT
    children.*,
    SUM(child_size) OVER (PARTITION BY level, child) AS child_rows,
    SUM(child_size) OVER (PARTITION BY level, parent) AS parent_rows
  FROM children
), nodes AS (  -- differences of shares, times class_size * row_count
  SELECT
    class_number,
    level,
    MAX(class_size) AS class_size,
    MAX(row_count) AS row_count,
    SUM(GREATEST(CAST(child_size AS WIDE) * row_count - CAST(class_size AS WIDE) * child_rows, 0)) AS gained,
    SUM(CAST(child_size AS WIDE) * row_count) - CAST(MAX(class_size) AS WIDE) * MAX(parent_rows) AS balance
  FROM compared
  GROUP BY class_number, level, parent
), measured AS (
  SELECT
    MAX(class_size) AS class_size,
    MAX(row_count) AS row_count,
    SUM(level * LEAST(CAST(gained AS WIDE), CAST(gained AS WIDE) - balance)) AS moved
  FROM nodes
  GROUP BY class_number
)
SELECT
  class_size,
  CASE
    WHEN CAST(moved AS WIDE) * :denominator > CAST(class_size AS WIDE) * row_count * :height * :numerator THEN 1
    ELSE 0
  END AS exceeds,
  CAST(
    FLOOR(1000000 * CAST(moved AS DOUBLE) / (CAST(class_size AS DOUBLE) * row_count * :height) + 0.5) AS BIGINT
  ) AS worst
FROM measured
