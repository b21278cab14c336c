-- The packed patterns that are not in the plan yet.
CREATE OR REPLACE TABLE unsolved AS
SELECT packed.* FROM packed ANTI JOIN plan ON packed.pattern = plan.pattern
