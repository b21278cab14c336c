-- A view of the columns that may be published.
-- Parameters: :view, :table;  :columns  the published columns;  :condition  limits the view to the audited rows
CREATE VIEW :view AS
SELECT :columns
FROM :table
WHERE :condition
