-- The new shares of blocks for which a better solution was found.
CREATE OR REPLACE TABLE improved (block INT, pattern INT, kept BIGINT, size BIGINT)
