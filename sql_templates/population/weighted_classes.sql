-- Number of classes for each size and sum of survey weights, with sums within 0.1 % of each other taken together: their
-- mean stands for them. Also counts the rows whose weight cannot be used.
-- Parameters: :relation  the audited rows
--             :columns   the column set
--             :weight    a row's weight, as a float
--             :steps     bins of sums per factor e
--             :largest   the largest weight that can be used
-- Result: class_size, class_count, weight_sum (over these classes, as text: in SQLite a float is an overflow),
--         null_weights (rows without a weight), bad_weights (rows whose weight is 0, negative, too large or no number):
--         one row per size and bin that occurs
WITH classes AS (
  SELECT
    COUNT(*) AS class_size,
    SUM(:weight) AS class_weight,
    SUM(CASE WHEN :weight IS NULL THEN 1 ELSE 0 END) AS null_weights,
    SUM(CASE WHEN :weight > 0 AND :weight <= :largest THEN 1 ELSE 0 END) AS used_weights
  FROM :relation
  GROUP BY :columns
), binned AS (
  SELECT
    classes.*,
    CASE WHEN used_weights = class_size THEN CAST(:steps * LN(class_weight) AS BIGINT) ELSE 0 END AS weight_bin
  FROM classes
)
SELECT
  class_size,
  COUNT(*) AS class_count,
  CAST(SUM(class_weight) AS VARCHAR) AS weight_sum,
  SUM(null_weights) AS null_weights,
  SUM(class_size - null_weights - used_weights) AS bad_weights
FROM binned
GROUP BY class_size, weight_bin
