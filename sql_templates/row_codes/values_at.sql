-- Some values of one column as text, by their codes. Run only if the user requested values.
-- Parameters: :relation, :column;  :dictionary  dictionary.sql of v0;  :text  its value as text;  :places
-- Result: one row per place: place, value
WITH classes AS (SELECT :column AS v0 FROM :relation)
SELECT place, :text AS value FROM :dictionary WHERE place IN (:places)
