-- A new table with the rows of a query.
-- Parameters: :target, :query
CREATE TABLE :target AS
SELECT * FROM :query
