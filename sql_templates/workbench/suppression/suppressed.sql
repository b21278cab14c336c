-- The packed patterns that lose a cell, with the column set that they lose.
CREATE OR REPLACE TABLE suppressed AS
SELECT packed.*, plan.mask FROM packed JOIN plan ON packed.pattern = plan.pattern WHERE plan.mask <> 0
