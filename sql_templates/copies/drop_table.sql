-- Parameters: :target
DROP TABLE :target
