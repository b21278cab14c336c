-- How many dates are finer than a year, and how many are of people who are 90 or older.
-- Parameters: :value   the date or timestamp;  :oldest  the first day of the year in which people who are 90 were born
--             :rows    the rows
-- Result: row_count, filled, different, days, born_before
SELECT
  COUNT(*) AS row_count,
  COUNT(value) AS filled,
  COUNT(DISTINCT value) AS different,
  COUNT(*) FILTER (WHERE value <> DATE_TRUNC('year', value)) AS days,
  COUNT(*) FILTER (WHERE value < CAST(:oldest AS TIMESTAMP)) AS born_before
FROM (SELECT CAST(:value AS TIMESTAMP) AS value FROM :rows) AS given
