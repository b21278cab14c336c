-- The number of the layout, written once by each qidsql that has a new one.
-- Parameters: :format
INSERT INTO history_format (format) VALUES (:format)
