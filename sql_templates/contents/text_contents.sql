-- How many values of a column look like something that identifies a person. No value leaves the engine.
-- Each different value is looked at once, without blanks around it; a whole number without the .0 of a float. A pattern without ^ and $ is also found within a longer text.
-- Parameters: :value    the value as text
--             :rows     the rows
--             :iban_digits  the account number with its first four signs at the end and numbers for letters
--             :luhn     the digits of card_digits, those at even places from the right doubled, added up
--             :rest     the account number iban_digits, modulo 97
--             :sparse   the first three digits of zip codes that may not be shown
--             :oldest   the first year of birth of whoever does not turn 90 this year
-- Result: one row of counts, named as they are read
SELECT
  SUM(value_rows) AS row_count,
  SUM(value_rows) FILTER (WHERE value IS NOT NULL) AS filled,
  COUNT(value) AS different,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '[^@[:space:]]@[^@[:space:]]+[.][A-Za-z]{2,}')) AS emails,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '[Hh][Tt][Tt][Pp][Ss]?://|(^|[^A-Za-z0-9])[Ww][Ww][Ww][.][A-Za-z0-9]')) AS urls,
  SUM(value_rows) FILTER (WHERE is_ip) AS ips,
  SUM(value_rows) FILTER (
    WHERE NOT is_ip AND REGEXP_LIKE(
      value,
      '(^|[^0-9.])((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])($|[^0-9.])'
    )
  ) AS ips_within,
  SUM(value_rows) FILTER (
    WHERE NOT is_ip
    AND REGEXP_LIKE(value, '^([+][0-9]|[(]|0[0-9]|[0-9]{3}[-. ][0-9]{3}[-. ][0-9]{4}$)[0-9 ()/.-]*$')
    AND REGEXP_LIKE(value, '[0-9][ ()/.-]|^[+(]')
    AND REGEXP_LIKE(value, '^([^0-9]*[0-9]){7,15}[^0-9]*$')
    AND NOT REGEXP_LIKE(value, '^([0-9]{3}-[0-9]{3}|[0-9]{4}-[0-9]{4}|[0-9]{5}-[0-9]{5}|[0-9]+[.][0-9]+)$')
    AND NOT REGEXP_LIKE(value, '^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}$|^[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}$')
  ) AS telephones,
  SUM(value_rows) FILTER (
    WHERE NOT REGEXP_LIKE(value, '^[-+0-9 ()/.]*$')
    AND REGEXP_LIKE(value, '[+][0-9][0-9 ()/.-]{6,}[0-9]|(^|[^0-9])[(]?[0-9]{3}[)]?[-. ][0-9]{3}[-. ][0-9]{4}($|[^0-9])')
  ) AS telephones_within,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '(^|[^0-9])[0-9]{3}-[0-9]{2}-[0-9]{4}($|[^0-9])')) AS personal_numbers,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$')) AS devices,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^[0-9]{5,13}([.][0-9]+)?$')) AS long_numbers,
  SUM(value_rows) FILTER (WHERE iban_digits IS NOT NULL) AS ibans_like,
  SUM(value_rows) FILTER (WHERE iban_digits IS NOT NULL AND :rest = 1) AS ibans,
  SUM(value_rows) FILTER (WHERE card_digits IS NOT NULL) AS cards_like,
  SUM(value_rows) FILTER (WHERE card_digits IS NOT NULL AND :luhn % 10 = 0) AS cards,
  SUM(value_rows) FILTER (
    WHERE card_digits IS NULL AND iban_digits IS NULL
    AND REGEXP_LIKE(
      value,
      '(^|[^0-9.])[0-9]([ -]?[0-9]){12,18}($|[^0-9.])|(^|[^A-Za-z0-9])[A-Za-z]{2}[0-9]{2} ?([A-Za-z0-9]{4} ?){2,7}[A-Za-z0-9]{1,4}($|[^A-Za-z0-9])'
    )
  ) AS accounts_within,
  SUM(value_rows) FILTER (
    WHERE REGEXP_LIKE(value, '^[A-HJ-NPR-Za-hj-npr-z0-9]{17}$')
    AND REGEXP_LIKE(value, '[A-Za-z]') AND REGEXP_LIKE(value, '[0-9]')
  ) AS vins,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^([0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$')) AS hashes,
  SUM(value_rows) FILTER (
    WHERE REGEXP_LIKE(value, '^(/9j/|iVBORw0KGgo)|[.]([Jj][Pp][Ee]?[Gg]|[Pp][Nn][Gg]|[Gg][Ii][Ff]|[Tt][Ii][Ff][Ff]?|[Hh][Ee][Ii][Cc]|[Dd][Cc][Mm])$')
  ) AS pictures,
  SUM(value_rows) FILTER (
    WHERE NOT REGEXP_LIKE(value, '^[0-9]{4}-01-01([ T]00:00(:00([.]0+)?)?)?$')
    AND REGEXP_LIKE(
      value,
      ('(^|[^0-9])(1[6-9]|20)[0-9]{2}[-/](0?[1-9]|1[0-2])[-/](0?[1-9]|[12][0-9]|3[01])($|[^0-9])|'
      || '(^|[^0-9.])(0?[1-9]|[12][0-9]|3[01])[./-](0?[1-9]|[12][0-9]|3[01])[./-](1[6-9]|20)[0-9]{2}($|[^0-9])|'
      || '^(0?[1-9]|[12][0-9]|3[01])/(0?[1-9]|[12][0-9]|3[01])/[0-9]{2}$|'
      || '(^|[^A-Za-z])([Jj][Aa][Nn]|[Ff][Ee][Bb]|[Mm][Aa][Rr]|[Aa][Pp][Rr]|[Mm][Aa][Yy]|[Jj][Uu][NnLl]|[Aa][Uu][Gg]|[Ss][Ee][Pp]|[Oo][Cc][Tt]|[Nn][Oo][Vv]|[Dd][Ee][Cc])[A-Za-z]*[ .,-]+([0-9]{1,2}[ .,]+)?(1[6-9]|20)[0-9]{2}($|[^0-9])')
    )
  ) AS days,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^((1[6-9]|20)[0-9]{2}[-/](0[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/](1[6-9]|20)[0-9]{2}|(1[6-9]|20)[0-9]{2}[- /]?[WwQqKk][Ww]?[0-9]{1,2}(-?[1-7])?|[WwQqKk][Ww]?[0-9]{1,2}[- /](1[6-9]|20)[0-9]{2})$')) AS months,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^(1[89]|20)[0-9]{2}(0[1-9]|1[0-2])((0[1-9]|[12][0-9]|3[01]))?$')) AS packed_days,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '[^[:space:]]([[:space:]]+[^[:space:]]+){5}')) AS texts,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^[^0-9]{0,8}0*(9[1-9]|[1-9][0-9]{2,})|^[^0-9]{0,8}0*90([.]0*[1-9]| *(-|,|to ))')) AS over_89,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^0*90([.]0*)?$')) AS exactly_90,
  SUM(value_rows) FILTER (
    WHERE REGEXP_LIKE(value, '^[^0-9]{0,8}0*[1-8]?[0-9][^0-9]*(-|,|;|:|/|[.][.]|[a-z])[^0-9]*0*(9[1-9]|[1-9][0-9]{2,})([^0-9]|$)')
  ) AS beyond_90,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^[0-9]{5}-[0-9]{4}$|^[A-Za-z]{1,2}[0-9][A-Za-z0-9]? ?[0-9][A-Za-z]{2}$|^[A-Za-z][0-9][A-Za-z] ?[0-9][A-Za-z][0-9]$')) AS postcodes,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^[^0-9]{0,8}[12][0-9]{3}([^0-9]|$)') AND SUBSTRING(digits, 1, 4) < :oldest) AS born_before,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '[0-9][^0-9]*[0-9][^0-9]*[0-9][^0-9]*[0-9]|^[A-Za-z]{1,2}[0-9]')) AS long_zips,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '^[0-9]{1,3}[^0-9]*$') AND LPAD(digits, 3, '0') IN (:sparse)) AS sparse_zips,
  -- What no pattern above tells, and a person must read: numbers but for bands and fractions, months in words, signs
  SUM(value_rows) FILTER (
    WHERE LENGTH(digits) >= 5
    AND NOT REGEXP_LIKE(value, '^[^0-9]{0,2}[0-9]{1,4}[^0-9]{1,4}[0-9]{1,4}[^0-9]{0,2}$|^-?[0-9]{0,4}[.][0-9]+$')
  ) AS five_digits,
  SUM(value_rows) FILTER (
    WHERE LENGTH(digits) >= 7
    AND NOT REGEXP_LIKE(value, '^[^0-9]{0,2}(1[6-9]|20)[0-9]{2}[^0-9]{1,4}(1[6-9]|20)[0-9]{2}[^0-9]{0,2}$|^-?[0-9]{0,4}[.][0-9]+$')
  ) AS seven_digits,
  SUM(value_rows) FILTER (
    WHERE REGEXP_LIKE(
      LOWER(value),
      '[0-9][^0-9a-z]*(jan|feb|fev|mar|mrz|apr|avr|abr|mai|may|mag|jun|jui|giu|jul|lug|aug|ago|aou|sep|set|okt|oct|ott|nov|dez|dec|dic|ene|gen|m.{1,2}rz|f.{1,2}v|ao.{1,2}t|d.{1,2}c)|(jan|feb|fev|mar|mrz|apr|avr|abr|mai|may|mag|jun|jui|giu|jul|lug|aug|ago|aou|sep|set|okt|oct|ott|nov|dez|dec|dic|ene|gen|m.{1,2}rz|f.{1,2}v|ao.{1,2}t|d.{1,2}c)[^0-9]{0,9}[0-9]'
    )
  ) AS named_months,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '@|[(]at[)]|[[]at[]]')) AS at_signs,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '://|::|[A-Za-z0-9-]{3,}[.][A-Za-z]{2,}')) AS domains,
  SUM(value_rows) FILTER (WHERE REGEXP_LIKE(value, '[A-Za-z][^A-Za-z0-9]+[A-Za-z]')) AS phrases
FROM (
  SELECT
    value,
    value_rows,
    digits,
    CASE WHEN REGEXP_LIKE(value, '^[0-9]([ -]?[0-9]){12,18}$') THEN RPAD(REVERSE(digits), 19, '0') END AS card_digits,
    CASE
      WHEN REGEXP_LIKE(compact, '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$')
      THEN LPAD(:iban_digits, 68, '0')
    END AS iban_digits,
    COALESCE(
      REGEXP_LIKE(
        value, '^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$'
      )
      OR REGEXP_LIKE(groups, '^([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$')
      OR (
        REGEXP_LIKE(groups, '^([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*)?::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*)?$')
        AND LENGTH(groups) - LENGTH(REPLACE(groups, ':', ''))
        <= CASE WHEN REGEXP_LIKE(groups, '^::|::$') THEN 8 ELSE 7 END
      ),
      FALSE
    ) AS is_ip
  FROM (
    SELECT
      value,
      value_rows,
      REGEXP_REPLACE(value, '[^0-9]', '') AS digits,
      UPPER(REPLACE(value, ' ', '')) AS compact,
      REGEXP_REPLACE(
        value,
        ':((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$',
        ':0:0'
      ) AS groups
    FROM (
      SELECT value, SUM(rows_as_given) AS value_rows
      FROM (
        SELECT
          NULLIF(
            REGEXP_REPLACE(REGEXP_REPLACE(as_given, '^[[:space:]]+|[[:space:]]+$', ''), '^([0-9]+)[.]0+$', '\1'), ''
          ) AS value,
          rows_as_given
        FROM (SELECT :value AS as_given, COUNT(*) AS rows_as_given FROM :rows GROUP BY :value) AS given
      ) AS trimmed
      GROUP BY value
    ) AS distinct_values
  ) AS cleaned
) AS prepared
