-- A round of moves in a plan of local recoding. Rows that their groups can spare move to groups in which they lose less:
-- those that exist, and new ones of k rows or more. Each group keeps k rows of its own, so each round leaves a plan that
-- is safe. Then each group shows the finest levels on which its rows agree.
-- Parameters: :state   a relation with codes, masks, n, leaves, and loss: one row per code;  :k
--             :group   the masks and their bits of the codes;  :named_group  the same AS q0, ..., r0, ...
--             :own     q0, ..., r0, ...;  :codes  w0, ...;  :target  t0, ..., p0, ...: what a candidate would show
--             :candidates  candidates.sql for each mask;  :wanted  of `targets`
--             :in_groups, :in_agreed  the group of a row of `state`, of `moved`
--             :exists  a target is a group;  :chosen  a candidate is for a target;  :known  a vote is of a row;  :voters  codes of `candidates`
--             :differing  the bits in which the codes of a group differ AS d0, ...
--             :finest     the masks of all levels on which rows agree that differ so AS f0, ...
--             :of_row     the move of a row;  :as_moved  codes, t0 or m0 AS m0, ..., and leaves
--             :tight      codes, f0 AS m0, ..., n, leaves;  :same_masks  these are as before;  :loss  with these
-- Result: one row per code: codes, masks, n, leaves, loss
WITH state AS MATERIALIZED (
  SELECT * FROM :state
), groups AS MATERIALIZED (
  SELECT :named_group, CAST(SUM(n) AS BIGINT) AS size FROM state GROUP BY :group
), leaving AS MATERIALIZED (
  SELECT state.*, groups.* FROM state INNER JOIN groups ON :in_groups WHERE groups.size - state.n >= :k
), candidates AS MATERIALIZED (
  SELECT * FROM :candidates
), targets AS MATERIALIZED (
  SELECT wanted.*, groups.size IS NULL AS opens
  FROM (
    SELECT :target, SUM(n) AS row_count, CAST(SUM(gain) AS BIGINT) AS worth FROM candidates GROUP BY :target
  ) AS wanted
  LEFT JOIN groups ON :exists
  WHERE row_count >= :k OR NOT groups.size IS NULL
), votes AS (
  SELECT * FROM (
    SELECT
      candidates.*,
      targets.opens,
      ROW_NUMBER() OVER (PARTITION BY :voters ORDER BY targets.worth DESC, :wanted) AS choice
    FROM candidates
    INNER JOIN targets ON :chosen
  ) AS chosen
  WHERE choice = 1
), willing AS (
  SELECT votes.*, leaving.size, :own, SUM(votes.n) OVER (PARTITION BY :target) AS going
  FROM votes
  INNER JOIN leaving ON :known
), spared AS (
  SELECT *, SUM(n) OVER (PARTITION BY :own ORDER BY gain DESC, :codes ROWS UNBOUNDED PRECEDING) AS gone
  FROM willing
  WHERE NOT opens OR going >= :k
), moves AS (
  SELECT *
  FROM (SELECT *, SUM(n) OVER (PARTITION BY :target) AS arriving FROM spared WHERE gone <= size - :k) AS allowed
  WHERE NOT opens OR arriving >= :k
), moved AS MATERIALIZED (
  SELECT :as_moved, state.n, state.loss - COALESCE(moves.gain, 0) AS loss
  FROM state
  LEFT JOIN moves ON :of_row
), agreeing AS (
  SELECT :own, :finest FROM (SELECT :named_group, :differing FROM moved GROUP BY :group) AS agreed
)
SELECT :tight, CAST(CASE WHEN :same_masks THEN loss ELSE :loss END AS BIGINT) AS loss
FROM moved
INNER JOIN agreeing ON :in_agreed
