-- Columns of one table or view as a query sees them, in their order; reads no row.
-- Parameters: :table
-- Result: column_name, column_type, nullable (YES or NO), ...
DESCRIBE SELECT * FROM :table
