-- Parameters: :target  shares or improved
--             :rows    what to insert
INSERT INTO :target SELECT * FROM :rows
