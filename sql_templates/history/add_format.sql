-- The number of the layout, written once.
INSERT INTO history_format (format) VALUES (:format)
