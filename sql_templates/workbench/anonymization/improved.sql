-- What becomes of the rows of the blocks for which something better was found.
CREATE OR REPLACE TABLE improved (block INT, pattern INT, kept BIGINT, size BIGINT)
