-- What becomes of the rows: so many rows of a row pattern keep these columns.
CREATE OR REPLACE TABLE shares (pattern INT, kept BIGINT, size BIGINT)
