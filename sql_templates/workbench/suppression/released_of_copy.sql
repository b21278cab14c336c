-- The patterns that are rows of a copy, and show all that they have: the others are people.
-- Parameters: :released  the code that is 1 for rows of the copy and 0 for people
CREATE OR REPLACE TABLE plan AS
SELECT pattern, CAST(0 AS BIGINT) AS mask FROM patterns WHERE :released = 1
