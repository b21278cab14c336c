-- The risk of each row in the table: 1 / the rows of its class.
-- Parameters: :household  the column that tells the households;  :columns  the column set
--             :relation   the audited rows
-- Result: household, risk: a row per row
SELECT :household AS household, CAST(1 AS DOUBLE) / COUNT(*) OVER (PARTITION BY :columns) AS risk
FROM :relation
