-- As changed_classes.sql, for a sensitive column: rows in classes where those added, those removed, or what both releases
-- say of those that stayed leave fewer than so many different values. A NULL is a value.
-- Parameters: :counted  the rows of both by all common columns (changed_cells.sql)
--             :classes  those of them that are quasi-identifiers;  :value  the sensitive one
--             :least    the fewest different values
-- Result: added_few, removed_few, stayed_few
SELECT
  SUM(CASE WHEN added_values < :least THEN added ELSE 0 END) AS added_few,
  SUM(CASE WHEN removed_values < :least THEN removed ELSE 0 END) AS removed_few,
  SUM(CASE WHEN stayed_values < :least THEN stayed ELSE 0 END) AS stayed_few
FROM (
  SELECT
    :classes,
    SUM(added) AS added,
    SUM(removed) AS removed,
    SUM(stayed) AS stayed,
    SUM(CASE WHEN added > 0 THEN 1 ELSE 0 END) AS added_values,
    SUM(CASE WHEN removed > 0 THEN 1 ELSE 0 END) AS removed_values,
    SUM(CASE WHEN stayed > 0 THEN 1 ELSE 0 END) AS stayed_values
  FROM (
    SELECT
      :classes,
      :value,
      SUM(CASE WHEN later_rows > earlier_rows THEN later_rows - earlier_rows ELSE 0 END) AS added,
      SUM(CASE WHEN earlier_rows > later_rows THEN earlier_rows - later_rows ELSE 0 END) AS removed,
      SUM(CASE WHEN earlier_rows < later_rows THEN earlier_rows ELSE later_rows END) AS stayed
    FROM :counted
    GROUP BY :classes, :value
  ) AS by_value
  GROUP BY :classes
) AS classes
