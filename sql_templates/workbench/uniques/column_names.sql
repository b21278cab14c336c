-- The names of the columns, by their places.
-- Parameters: :given  the same as a list of VALUES
CREATE TABLE column_names AS
SELECT place, name FROM :given
