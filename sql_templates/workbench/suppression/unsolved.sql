-- The packed patterns that the plan does not have yet.
CREATE OR REPLACE TABLE unsolved AS
SELECT packed.* FROM packed ANTI JOIN plan ON packed.pattern = plan.pattern
