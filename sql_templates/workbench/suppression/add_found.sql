-- Patterns enter the plan with what the search among nearby records has found.
-- Parameters: :found  values of pattern, mask
INSERT INTO plan
SELECT * FROM :found
