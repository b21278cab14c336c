-- Columns of one table or view as a query finds them, in their order; no row is read.
-- Parameters: :table
-- Result: column_name, column_type, nullable (YES or NO), ...
DESCRIBE SELECT * FROM :table
