-- Local recoding, top-down: at first every row shows nothing. In each round, each group of rows that show the same shows
-- one column a level finer, in the parts that are safe then; the other rows stay as they are, together with the smallest
-- safe part if they alone are not safe. So no round leaves an unsafe group. A part is safe if k rows or persons are in
-- it, with as many different sensitive values as required; a safe part stays safe together with any other rows.
-- A code (w0, w1, ...) is the values of all columns as paths of a few bits a level; a mask (m0, m1, ...) is the levels
-- that a row shows; the rows of a group have one mask, and agree on its bits of their codes (s0, s1, ...).
-- Parameters: :rows      a relation with codes, n (rows), and what else is counted;  :first  its columns, and no mask
--             :state, :own  the columns of the codes, masks and what is counted, of the round and of the state
--             :masks, :shown, :differing, :shared  m0; w0 & m0 AS s0; the bits of codes that differ AS d0; m0, w0 & m0
--             :agreed    s0, ...;  :finest  the masks of all levels that rows `differing` so agree on AS f0, ...
--             :people    counts who is in a group;  :same  the group of a row;  :tight  its row with the finest masks
--             :children  children.sql of each column, as one relation
--             :gains     a relation with place, finer, path, gain: what a row gains by showing this level, too
--             :kept_back whether the rows outside of the safe parts are not safe alone
--             :path      what a row shows of the column that its group divides;  :finer_masks  its masks after that
-- Result: codes, masks, n, what else is counted
WITH RECURSIVE recoded AS (
  SELECT :first, n, TRUE AS divided FROM :rows
  UNION ALL (
    WITH state AS (
      SELECT :state, n FROM recoded WHERE divided
    ), agreeing AS MATERIALIZED (
      SELECT :masks, :agreed, size, :finest, ROW_NUMBER() OVER () AS number
      FROM (
        SELECT :masks, :shown, :people AS size, :differing
        FROM state
        GROUP BY :shared
      ) AS counted
    ), tightened AS MATERIALIZED (
      SELECT :tight, state.n, agreeing.size, agreeing.number
      FROM state
      INNER JOIN agreeing ON :same
    ), children AS MATERIALIZED (
      SELECT * FROM :children
    ), divisions AS (
      SELECT
        place,
        number,
        finer,
        CASE WHEN kept_back THEN worth - smallest[0] * smallest[1] ELSE worth END AS worth,
        CASE WHEN kept_back THEN smallest[2] END AS stays
      FROM (
        SELECT
          children.place,
          number,
          children.finer,
          :kept_back AS kept_back,
          CAST(SUM(CASE WHEN safe THEN n * gain ELSE 0 END) AS BIGINT) AS worth,
          MIN(CASE WHEN safe THEN ARRAY[n, gain, children.path] END) AS smallest
        FROM children
        INNER JOIN :gains
          ON gains.place = children.place AND gains.finer = children.finer AND gains.path = children.path
        GROUP BY children.place, number, children.finer, size
      ) AS measured
    ), best AS MATERIALIZED (
      SELECT place, number, finer, stays
      FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY number ORDER BY worth DESC, place) AS worth_place
        FROM divisions
        WHERE worth > 0
      ) AS ordered
      WHERE worth_place = 1
    ), going AS MATERIALIZED (
      SELECT children.number, children.path
      FROM children
      INNER JOIN best ON children.number = best.number AND children.place = best.place
      WHERE children.safe AND children.path IS DISTINCT FROM best.stays
    )
    SELECT :finer_masks, tightened.n, NOT best.finer IS NULL
    FROM tightened
    LEFT JOIN best ON tightened.number = best.number
    LEFT JOIN going ON tightened.number = going.number AND :path = going.path
  )
)
SELECT :state, n
FROM recoded
WHERE NOT divided
