{#- Each group of rows that are alike on these columns has k rows: each row is another person. -#}
{% test k_anonymous(model, columns, k=5) %}
{{ qidsql.group_with_fewer(model, columns, 'COUNT(*)', k) }}
{% endtest %}

{#- Each group has rows of k persons; `entity` is the column of the persons, and each row has one. -#}
{% test entity_k(model, columns, entity, k=5) %}
{{ qidsql.group_with_fewer(model, columns, qidsql.persons(entity), k) }}
{% endtest %}

{#- Each group has l different values of the sensitive column. -#}
{% test l_diverse(model, columns, sensitive, l=2) %}
{{ qidsql.group_with_fewer(model, columns, qidsql.different(sensitive), l) }}
{% endtest %}
