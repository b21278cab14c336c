-- Protected rows, only if the caller sees the rows that the plan was made for.
SELECT *
FROM (:rows)
WHERE CASE
  WHEN (:asked) IS NOT DISTINCT FROM :seen THEN TRUE
  ELSE system.main.error(system.main.concat(
    'qidsql: this session sees other rows of ', :table, ' than what is committed, which was protected: is there an open ',
    'transaction, a temporary table or a CTE of this name, another time zone or variable?'
  ))
END
