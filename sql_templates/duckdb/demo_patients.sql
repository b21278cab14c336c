-- The demo's patients: skewed like a real register (a few large districts, some rare occupations, none for the young).
-- Drawn by md5, not hash(), which gives the same rows in every version of DuckDB.
-- Parameters: :patients  the number of patients
CREATE TABLE patients AS
WITH numbered AS (
  SELECT id, md5('patient ' || CAST(id AS VARCHAR)) AS dice
  FROM range(1, :patients + 1) AS numbers(id)
), drawn AS (
  SELECT
    id,
    CAST('0x' || substr(dice, 1, 5) AS INTEGER) / 1048576.0 AS born,
    CAST('0x' || substr(dice, 6, 5) AS INTEGER) / 1048576.0 AS place,
    CAST('0x' || substr(dice, 11, 5) AS INTEGER) / 1048576.0 AS sex,
    CAST('0x' || substr(dice, 16, 5) AS INTEGER) / 1048576.0 AS job,
    CAST('0x' || substr(dice, 21, 5) AS INTEGER) / 1048576.0 AS ill,
    CAST('0x' || substr(dice, 26, 6) AS INTEGER) AS record
  FROM numbered
), aged AS (
  SELECT
    *,
    CAST(DATE '1932-01-01' + CAST(floor(33500 * (1 - born * 0.93)) AS INTEGER) AS DATE) AS birth_date
  FROM drawn
)
SELECT
  CAST(id AS INTEGER) AS patient_id,
  'MRN-' || lpad(CAST(record AS VARCHAR), 8, '0') || '-' || lpad(CAST(id % 97 AS VARCHAR), 2, '0') AS record_number,
  birth_date,
  CAST(97201 + CAST(floor(48 * place * place) AS INTEGER) AS VARCHAR) AS zip_code,
  CASE WHEN sex < 0.504 THEN 'F' WHEN sex < 0.996 THEN 'M' ELSE 'X' END AS sex,
  CASE
    WHEN birth_date > DATE '2007-12-31' THEN NULL
    WHEN birth_date < DATE '1958-01-01' AND job < 0.85 THEN 'retired'
    ELSE list_extract(
      [
        'retail salesperson', 'office clerk', 'registered nurse', 'software developer', 'teacher', 'truck driver',
        'construction worker', 'cook', 'cashier', 'accountant', 'student', 'warehouse worker', 'electrician',
        'nursing assistant', 'mechanical engineer', 'hairdresser', 'social worker', 'police officer', 'bus driver',
        'carpenter', 'lawyer', 'bank teller', 'graphic designer', 'plumber', 'dental assistant', 'baker', 'journalist',
        'veterinarian', 'musician', 'firefighter', 'optometrist', 'tree surgeon', 'judge', 'glassblower',
        'airline pilot', 'mayor'
      ],
      1 + CAST(floor(36 * job * job) AS INTEGER)
    )
  END AS occupation,
  list_extract(
    [
      'I10', 'E11.9', 'E78.5', 'J45.909', 'F41.1', 'M54.50', 'K21.9', 'N39.0', 'F32.9', 'J06.9', 'E03.9', 'G43.909',
      'I25.10', 'M17.9', 'L40.0', 'C50.919', 'F10.20', 'K50.90', 'B18.2', 'G35', 'B20', 'E84.0'
    ],
    1 + CAST(floor(22 * ill * ill) AS INTEGER)
  ) AS diagnosis
FROM aged
