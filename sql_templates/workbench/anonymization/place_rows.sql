-- Rows in classes of k rows or more keep the column set.
-- Parameters: :kept     the column set as a bit mask
--             :columns  its columns;  :key  the same as a tuple
--             :k        rows that must be identical
INSERT INTO shares
SELECT pattern, :kept, size
FROM unplaced
WHERE :key IN (SELECT :columns FROM unplaced GROUP BY :columns HAVING SUM(size) >= :k)
