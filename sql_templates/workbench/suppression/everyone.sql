-- All patterns, with their NULLs as a column set.
CREATE OR REPLACE TABLE everyone AS SELECT * FROM unverified
