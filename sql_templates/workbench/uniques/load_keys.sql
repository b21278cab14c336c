-- The key of every row, with its row pattern.
-- Parameters: :exported  the exported file;  :codes  COALESCE(c0, 0) AS c0, ...
--             :same      coded.c0 = patterns.c0 AND ...
CREATE TABLE keys AS
SELECT patterns.pattern, coded.key_text
FROM (SELECT key_text, :codes FROM :exported) AS coded
JOIN patterns ON :same
