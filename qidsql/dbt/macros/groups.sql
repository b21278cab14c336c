{#- What the tests have in common: the groups of rows that look alike, and what each has of something. -#}

{#- A column as it is published, byte by byte: 70 and 70.00 look different, as do a and A under any collation. -#}
{% macro published(column) %}
  {{- adapter.dispatch('published', 'qidsql')(adapter.quote(column)) -}}
{% endmacro %}

{% macro default__published(column) %}CAST({{ column }} AS VARCHAR){% endmacro %}
{% macro duckdb__published(column) %}ENCODE(CAST({{ column }} AS VARCHAR)){% endmacro %}
{% macro postgres__published(column) %}CAST({{ column }} AS TEXT) COLLATE "C"{% endmacro %}

{#- Different values of a column in a group; a NULL is one more. -#}
{% macro different(column) -%}
  COUNT(DISTINCT {{ adapter.quote(column) }})
    + MAX(CASE WHEN {{ adapter.quote(column) }} IS NULL THEN 1 ELSE 0 END)
{%- endmacro %}

{#- The persons of a group; none is sure where a row has no person, as it may be of one who is counted already. -#}
{% macro persons(column) -%}
  CASE WHEN COUNT(*) > COUNT({{ adapter.quote(column) }}) THEN 0 ELSE COUNT(DISTINCT {{ adapter.quote(column) }}) END
{%- endmacro %}

{#- One row if a group has fewer than `least`, or there is no row to judge; no cell value and no count of it. -#}
{% macro group_with_fewer(model, columns, measured, least) -%}
  {%- if columns is string or columns is not iterable or not columns -%}
    {{ exceptions.raise_compiler_error("columns must be a list of the columns that others may know, such as [zip, sex]") }}
  {%- endif -%}
  {%- if least is not integer or least < 2 -%}
    {{ exceptions.raise_compiler_error("k and l must be whole numbers of at least 2") }}
  {%- endif -%}
SELECT 1 AS violated
FROM (
  SELECT MIN(measured) AS smallest
  FROM (
    SELECT {{ measured }} AS measured
    FROM {{ model }}
    GROUP BY {% for column in columns %}{{ qidsql.published(column) }}{{ ", " if not loop.last }}{% endfor %}
  ) AS qidsql_groups
) AS qidsql_smallest
WHERE smallest IS NULL OR smallest < {{ least }}
{%- endmacro %}
