"""What the words and figures of the report mean, in plain sentences."""

GLOSSARY = (
    (
        "Class (equivalence class)",
        "All rows that have the same values in the audited columns. Who knows these values of a person knows that "
        "the person is one of the rows of the class, and no more.",
    ),
    (
        "k-anonymous, smallest class",
        "A table is k-anonymous when every class has at least k rows. The smallest class is the k that the table "
        "reaches. 1 means that someone stands alone.",
    ),
    (
        "Below k, at risk",
        "Rows that stand in classes of fewer than k rows, and their share of all rows. The highest chance to pick the "
        "right person out of a class is 1 divided by its size.",
    ),
    (
        "Entity",
        "The person, where a person has several rows. Classes then count persons, not rows.",
    ),
    (
        "Quasi-identifier",
        "A column that does not name a person, but may be known from elsewhere: a date of birth, a postal code. These "
        "columns are audited, all together.",
    ),
    (
        "Direct identifier",
        "A column whose values belong to one person each, such as a record number. It must not be published, and the "
        "audit leaves it out.",
    ),
    (
        "Sensitive",
        "What a reader of the table must not learn about a person, such as a diagnosis. It is taken to be unknown "
        "outside.",
    ),
    (
        "Minimal column set",
        "A set of columns that already has the fault named, while no part of it does. To mend the table, each minimal "
        "set must lose a column or have its values made coarser.",
    ),
    ("Key", "A column set on which no two rows agree: it tells every row apart."),
    (
        "Distinct ratio",
        "The number of classes divided by the number of rows; 1 means that each row has a class of its own.",
    ),
    ("Separation ratio", "The share of all pairs of rows that a column set tells apart."),
    ("NULL", "An empty cell. The report says whether it counts as a value of its own or may stand for any value."),
    ("Withhold", "Not to publish a column."),
    (
        "Inconclusive",
        "The audit ended before a verdict: its budget was spent, it was interrupted, or there was nothing to judge. "
        "It is never to be read as a pass.",
    ),
    ("Statement", "A question asked of the database (a SELECT). An audit asks only for counts and writes nothing."),
    ("Configuration hash", "A check sum of the policy file. Equal hashes mean that the same rules were applied."),
)
