-- JSON files (an array of objects, or one object per line), parsed once into qidsql's own temporary database.
-- Parameters: :view  the name;  :paths  the files' paths or patterns
CREATE TABLE :view AS
SELECT * FROM read_json(:paths, union_by_name = true)
