-- How many values of a column of bytes begin like a picture (JPEG, PNG, GIF, TIFF).
-- Parameters: :digits  the first bytes as hexadecimal digits in upper case;  :value  the bytes;  :rows  the rows
-- Result: row_count, filled, different, pictures
SELECT
  COUNT(*) AS row_count,
  COUNT(value) AS filled,
  COUNT(DISTINCT value) AS different,
  COUNT(*) FILTER (WHERE REGEXP_LIKE(digits, '^(FFD8FF|89504E47|47494638|49492A00|4D4D002A)')) AS pictures
FROM (SELECT :value AS value, UPPER(:digits) AS digits FROM :rows) AS given
