-- Parameters: :found  a query
SELECT * FROM :found
