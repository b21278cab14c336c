-- The number of the layout, written once.
-- Parameters: :format
INSERT INTO history_format (format) VALUES (:format)
