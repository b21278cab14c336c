-- What rows of a row pattern lose: so many rows of it lose these columns.
CREATE OR REPLACE TABLE shares (pattern INTEGER, mask BIGINT, size BIGINT)
