-- The row patterns in the workbench, numbered from 0 in the order of their codes. Code 0 represents NULL.
-- Parameters: :exported  the exported file (read_parquet or read_csv)
--             :codes     COALESCE(c0, 0) AS c0, ...
--             :columns   c0, c1, ...
CREATE TABLE patterns AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY :columns) - 1 AS INT) AS pattern, size, :columns
FROM (SELECT CAST(size AS BIGINT) AS size, :codes FROM :exported) AS coded
