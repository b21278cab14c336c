-- How many different values of a sensitive column are texts or bytes. Texts that are dates, such as 2026-01-31, are not
-- counted: their order is that of the dates.
-- Parameters: :relation   the audited rows;  :sensitive  the sensitive column
-- Result: value_count
SELECT COUNT(DISTINCT :sensitive) AS value_count
FROM :relation
WHERE TYPEOF(:sensitive) IN ('text', 'blob')
  AND COALESCE(STRFTIME('%Y-%m-%d', :sensitive), '') <> :sensitive
