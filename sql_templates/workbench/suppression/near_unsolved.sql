-- The packed patterns that agree with an unsolved one on a column set.
-- Parameters: :agree
SELECT packed.* FROM packed SEMI JOIN unsolved ON :agree
