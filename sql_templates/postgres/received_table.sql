-- A temporary table, dropped with the session.
-- Parameters: :table  its name and columns
CREATE TEMPORARY TABLE :table
