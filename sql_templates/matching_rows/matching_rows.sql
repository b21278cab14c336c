-- Match frequencies of one column set: for each row the number of rows that match it, itself included, where a NULL on
-- either side matches anything [sdcMicro's frequency count]. Rows that agree on all columns (NULL agrees with NULL) are
-- grouped into classes first. A class is represented by a few integers of 62 bits: the codes of its values side by
-- side, with all bits 0 for a NULL. For each pair of shapes (which columns have a value) a plan chooses the first
-- columns on which both have a value, as many as separate most rows. Classes are hash-joined by equality on these
-- columns alone, and the joined pairs are then compared on the other columns.
-- Parameters: :relation;  :columns  the column set;  :aliased  the same AS c0, c1, ...
--             :codes    the columns' codes, 0 for NULL, AS code0, code1, ...
--             :class_number  a numbering of the classes
--             :words    the codes side by side AS word0, ..., and all bits of the columns with a value AS given0, ...
--             :surplus  a code is too large for its bits: the table has changed since the codes were sized
--             :given    given0, ...
--             :shapes   those of both shapes AS mine0, theirs0, ...;  :heads  the bits of the columns considered until
--                       enough of them have a value in both, AS head0, ...
--             :keeps, :seeks, :offers  of a plan: given0, ... unchanged, the bits to join on AS keep0, ..., and marks
--                       (1: only mine is NULL, 2: only theirs, 3: both; no code is so small) AS seek0, offer0, ...
--             :same_shape;  :seek_keys, :offer_keys  the join key AS key0, ...;  :same_key
--             :incomplete  a class has a NULL;  :complete  the offered class has none
--             :match    both agree on all columns where both have a value
--             :most     frequencies of at least this are combined into one
-- Result: one row per frequency: frequency, row_count, smallest, largest (before combining), matching_pairs (ordered
--         pairs of different rows), surplus
WITH combined AS (
  SELECT :aliased, COUNT(*) AS class_size
  FROM :relation
  GROUP BY :columns
), coded AS (
  SELECT class_size, :codes
  FROM combined
), classes AS MATERIALIZED (
  SELECT :class_number AS class_number, class_size, :words, :surplus AS surplus
  FROM coded
), shapes AS MATERIALIZED (
  SELECT DISTINCT :given
  FROM classes
), meetings AS (
  SELECT :shapes, :heads
  FROM shapes AS a
  CROSS JOIN shapes AS b
), plans AS MATERIALIZED (
  SELECT DISTINCT :keeps, :seeks, :offers
  FROM meetings
), seeking AS (
  SELECT classes.*, :seek_keys
  FROM classes
  JOIN plans ON :same_shape
  WHERE :incomplete
), offering AS (
  SELECT classes.*, :offer_keys
  FROM classes
  JOIN plans ON :same_shape
), matches AS (
  SELECT
    seeking.class_number AS seeker,
    seeking.class_size AS seeker_size,
    offering.class_number AS offerer,
    offering.class_size AS offerer_size,
    CASE WHEN :complete THEN 2 ELSE 1 END AS ways
  FROM seeking
  JOIN offering ON :same_key
  WHERE :match
), credits AS (
  SELECT
    CASE WHEN way = 1 THEN seeker ELSE offerer END AS class_number,
    SUM(CASE WHEN way = 1 THEN offerer_size ELSE seeker_size END) AS credit
  FROM matches
  JOIN (SELECT 1 AS way UNION ALL SELECT 2 AS way) AS both_ways ON way <= ways
  GROUP BY CASE WHEN way = 1 THEN seeker ELSE offerer END
), counted AS (
  SELECT
    class_size,
    surplus,
    COALESCE(credit, 0) + CASE WHEN :incomplete THEN 0 ELSE class_size END AS frequency
  FROM classes
  LEFT JOIN credits ON credits.class_number = classes.class_number
)
SELECT
  CASE WHEN frequency < :most THEN frequency ELSE :most END AS frequency_or_most,
  SUM(class_size) AS row_count,
  MIN(frequency) AS smallest,
  MAX(frequency) AS largest,
  SUM(CAST(class_size AS WIDE) * (frequency - 1)) AS matching_pairs,
  MAX(surplus) AS surplus
FROM counted
GROUP BY CASE WHEN frequency < :most THEN frequency ELSE :most END
