-- Draws a sample once for all the column sets that one statement asks for.
-- Parameters: :sample    the sample, to select from
--             :profiles  class profiles of column sets over the relation "drawn", to select from
WITH drawn AS MATERIALIZED (
  SELECT * FROM :sample
)
SELECT * FROM :profiles
