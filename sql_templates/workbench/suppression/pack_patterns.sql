-- The row patterns packed for comparing (sql/packing.py).
-- Parameters: :lanes     k0, ... of the codes c0, c1, ...
--             :patterns  the table of row patterns
CREATE OR REPLACE TABLE packed AS
SELECT pattern, size, :lanes FROM :patterns
