-- The rows that would lose less if they showed the levels of a mask.
-- Parameters: :codes  w0, ...;  :target  what the row would show: the mask AS t0, ..., its bits of the codes AS p0, ...
--             :loss   what it would lose then
-- Result: codes, target, n, gain
SELECT :codes, :target, n, loss - :loss AS gain
FROM leaving
WHERE loss > :loss
