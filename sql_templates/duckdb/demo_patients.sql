-- The demo's patients: skewed like real registers, the same rows every time.
-- Parameters: :patients  how many
CREATE TABLE patients AS
WITH drawn AS (
  SELECT
    id,
    hash(id, 'born') % 10000 / 10000.0 AS born,
    hash(id, 'zip') % 10000 / 10000.0 AS place,
    hash(id, 'sex') % 1000 AS sex,
    hash(id, 'job') % 10000 / 10000.0 AS job,
    hash(id, 'ill') % 10000 / 10000.0 AS ill
  FROM range(1, :patients + 1) AS numbers(id)
)
SELECT
  CAST(id AS INTEGER) AS patient_id,
  'P' || lpad(CAST(hash(id, 'record') % 100000000 AS VARCHAR), 8, '0') || lpad(CAST(id AS VARCHAR), 6, '0') AS record_number,
  CAST(DATE '1930-01-01' + CAST(floor(31000 * (1 - born * born * 0.6)) AS INTEGER) AS DATE) AS birth_date,
  lpad(CAST(10000 + CAST(floor(90 * place * place * place) AS INTEGER) * 7 AS VARCHAR), 5, '0') AS zip_code,
  CASE WHEN sex < 504 THEN 'F' WHEN sex < 996 THEN 'M' ELSE 'X' END AS sex,
  CASE WHEN job < 0.06 THEN NULL ELSE 'occupation ' || CAST(CAST(floor(60 * job * job) AS INTEGER) AS VARCHAR) END AS occupation,
  'D' || CAST(CAST(floor(40 * ill * ill * ill) AS INTEGER) AS VARCHAR) AS diagnosis
FROM drawn
