-- Local recoding, top-down: at first every row shows nothing. In each round, each group of rows that show the same shows
-- one column a level finer, in the parts that are safe then; the other rows stay as they are, together with the smallest
-- safe part if they alone are not safe. So no round leaves an unsafe group. A part is safe if k rows or persons are in
-- it, with as many different sensitive values as required; a safe part stays safe together with any other rows.
-- A code is the values of all columns as paths of a few bits a level; a mask is the levels that a row shows; the rows of
-- a group have one mask, and agree on its bits of their codes (shown).
-- Parameters: :rows       a relation with code, n (rows), and what else is counted: :carried
--             :state_carried, :tightened_carried  the same, of these relations
--             :people     counts who is in a group;  :finest  the mask of all levels that rows `differing` so agree on
--             :children   children.sql of each column, as one relation
--             :gains      a relation with finer, path, gain: what a row gains by showing the level of this mask, too
--             :kept_back  whether the rows outside of the safe parts are not safe alone
-- Result: code, n, mask, :carried
WITH RECURSIVE recoded AS (
  SELECT code, n, CAST(0 AS BIGINT) AS mask, TRUE AS divided, :carried FROM :rows
  UNION ALL (
    WITH state AS (
      SELECT code, n, mask, :carried FROM recoded WHERE divided
    ), agreeing AS MATERIALIZED (
      SELECT mask, shown, size, :finest AS finest
      FROM (
        SELECT mask, code & mask AS shown, :people AS size, BIT_OR(code) - BIT_AND(code) AS differing
        FROM state
        GROUP BY mask, code & mask
      ) AS counted
    ), tightened AS MATERIALIZED (
      SELECT state.code, state.n, agreeing.finest AS mask, agreeing.size, :state_carried
      FROM state
      INNER JOIN agreeing ON state.mask = agreeing.mask AND (state.code & state.mask) = agreeing.shown
    ), children AS MATERIALIZED (
      SELECT * FROM :children
    ), divisions AS (
      SELECT
        place,
        mask,
        shown,
        finer,
        CASE WHEN kept_back THEN worth - smallest[0] * smallest[1] ELSE worth END AS worth,
        CASE WHEN kept_back THEN smallest[2] END AS stays
      FROM (
        SELECT
          place,
          mask,
          shown,
          children.finer,
          :kept_back AS kept_back,
          CAST(SUM(CASE WHEN safe THEN n * gain ELSE 0 END) AS BIGINT) AS worth,
          MIN(CASE WHEN safe THEN ARRAY[n, gain, children.path] END) AS smallest
        FROM children
        INNER JOIN :gains ON gains.finer = children.finer AND gains.path = children.path
        GROUP BY place, mask, shown, children.finer, size
      ) AS measured
    ), best AS MATERIALIZED (
      SELECT place, mask, shown, finer, stays
      FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY mask, shown ORDER BY worth DESC, place) AS number
        FROM divisions
        WHERE worth > 0
      ) AS ordered
      WHERE number = 1
    ), going AS MATERIALIZED (
      SELECT children.mask, children.shown, children.path
      FROM children
      INNER JOIN best
        ON children.mask = best.mask AND children.shown = best.shown AND children.place = best.place
      WHERE children.safe AND children.path IS DISTINCT FROM best.stays
    )
    SELECT
      tightened.code,
      tightened.n,
      CASE WHEN going.path IS NULL THEN tightened.mask ELSE tightened.mask | best.finer END,
      NOT best.finer IS NULL,
      :tightened_carried
    FROM tightened
    LEFT JOIN best ON tightened.mask = best.mask AND (tightened.code & tightened.mask) = best.shown
    LEFT JOIN going
      ON tightened.mask = going.mask
      AND (tightened.code & tightened.mask) = going.shown
      AND (tightened.code & best.finer) = going.path
  )
)
SELECT code, n, mask, :carried
FROM recoded
WHERE NOT divided
