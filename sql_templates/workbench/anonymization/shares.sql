-- The shares: how many rows of a row pattern keep which columns.
CREATE OR REPLACE TABLE shares (pattern INT, kept BIGINT, size BIGINT)
