-- Parameters: :target, :query
CREATE VIEW :target AS
SELECT * FROM :query
