-- A view of the columns that may be published.
-- Parameters: :view, :table;  :columns  the published columns;  :condition  which rows belong to the audit
CREATE VIEW :view AS
SELECT :columns
FROM :table
WHERE :condition
