-- CSV files, parsed once into qidsql's own temporary database: a parse per statement would cost more than the statement.
-- Parameters: :view   the name;  :paths  the files' paths or patterns
--             :plain  true keeps every value as its text, false lets the engine find the columns' types
CREATE TABLE :view AS
SELECT * FROM read_csv(:paths, all_varchar = :plain, union_by_name = true)
