-- The database in which unqualified names of tables are looked up.
-- Result: one row: database_name
SELECT
  CURRENT_DATABASE() AS database_name
