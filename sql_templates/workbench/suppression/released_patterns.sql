-- The row patterns as a suppression plan leaves them, with code 0 for blank cells.
-- Parameters: :codes  CASE WHEN mask has c0 THEN 0 ELSE c0 END AS c0, ...
CREATE OR REPLACE TABLE released AS
SELECT pattern, size, :codes FROM patterns JOIN plan USING (pattern)
