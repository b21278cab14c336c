-- How an earlier release and a later one differ in the columns that both have: rows added and removed, by classes. No
-- key is needed: rows with the same values cancel out.
-- Parameters: :counted  the rows of both by all common columns (changed_cells.sql)
--             :classes  those of them that are quasi-identifiers
--             :k
-- Result: added, removed, added_below, removed_below (rows in classes to which fewer than k were added, or from which
--         fewer than k were removed), stayed, stayed_below
SELECT
  SUM(added) AS added,
  SUM(removed) AS removed,
  SUM(CASE WHEN added < :k THEN added ELSE 0 END) AS added_below,
  SUM(CASE WHEN removed < :k THEN removed ELSE 0 END) AS removed_below,
  SUM(stayed) AS stayed,
  SUM(CASE WHEN stayed < :k THEN stayed ELSE 0 END) AS stayed_below
FROM (
  SELECT
    :classes,
    SUM(CASE WHEN later_rows > earlier_rows THEN later_rows - earlier_rows ELSE 0 END) AS added,
    SUM(CASE WHEN earlier_rows > later_rows THEN earlier_rows - later_rows ELSE 0 END) AS removed,
    SUM(CASE WHEN earlier_rows < later_rows THEN earlier_rows ELSE later_rows END) AS stayed
  FROM :counted
  GROUP BY :classes
) AS classes
