-- How many dates are finer than a year, and how many are of people who turn 90 this year or are older.
-- Parameters: :value   the date or timestamp;  :oldest  the first day on which nobody was born who turns 90 this year
--             :rows    the rows
-- Result: row_count, filled, different, days, born_before
SELECT
  COUNT(*) AS row_count,
  COUNT(value) AS filled,
  COUNT(DISTINCT value) AS different,
  COUNT(*) FILTER (WHERE value <> DATE_TRUNC('year', value)) AS days,
  COUNT(*) FILTER (WHERE value < CAST(:oldest AS TIMESTAMP)) AS born_before
FROM (SELECT CAST(:value AS TIMESTAMP) AS value FROM :rows) AS given
