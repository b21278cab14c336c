-- A hash of all rows that does not depend on their order: the sums of the four parts of the md5 of each row's text.
-- Parameters: :row    the text of a row, from which its values can be read back;  :rows  the rows
--             :first, :second, :third, :fourth  the numbers that eight hexadecimal digits of row_hash stand for
-- Result: row_count, first_sum, second_sum, third_sum, fourth_sum
SELECT
  COUNT(*) AS row_count,
  SUM(:first) AS first_sum,
  SUM(:second) AS second_sum,
  SUM(:third) AS third_sum,
  SUM(:fourth) AS fourth_sum
FROM (SELECT MD5(:row) AS row_hash FROM :rows) AS hashed
