-- The patterns whose rows are not yet known to match k rows, with the NULLs of each as a column set.
-- Parameters: :nulls     of the codes c0, c1, ...
--             :patterns  the table of row patterns
CREATE OR REPLACE TABLE unverified AS
SELECT packed.*, nulls, CAST(0 AS BIGINT) AS seen
FROM packed
JOIN (SELECT pattern, :nulls AS nulls FROM :patterns) AS empty ON packed.pattern = empty.pattern
