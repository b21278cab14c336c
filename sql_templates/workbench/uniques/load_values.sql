-- The cells of the row patterns as text.
-- Parameters: :exported  the exported file, with codes from 1;  :codes  the codes by row pattern and column
CREATE TABLE cells AS
SELECT coded.pattern, coded.place, texts.value_text
FROM :codes
LEFT JOIN :exported AS texts ON coded.place = texts.place AND coded.code = texts.code
