-- A temporary table, which goes with the session.
-- Parameters: :table  its name and columns
CREATE TEMPORARY TABLE :table
