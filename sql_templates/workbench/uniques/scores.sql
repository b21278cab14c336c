-- The risk scores of the row patterns, none so far.
-- Parameters: :zero  0 in the type of the scores
-- Result: a table: pattern, score
CREATE TABLE scores AS
SELECT pattern, :zero AS score FROM patterns LIMIT 0
