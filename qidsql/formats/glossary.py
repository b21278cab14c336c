"""The terms of the report, explained for readers without a background in statistics."""

GLOSSARY = (
    (
        "Class (equivalence class)",
        "All rows that have the same values in the audited columns. Someone who knows these values of a person finds "
        "the class, and cannot tell from them which of its rows is the person's; what all its rows have in common is "
        "known all the same.",
    ),
    (
        "k-anonymous, smallest class",
        "A table is k-anonymous when every class has at least k rows. The smallest class is the k that the table "
        "reaches. 1 means that some row is unique.",
    ),
    (
        "Highest and average risk",
        "The chance of finding the right row of a person who is known to be in the table: 1 divided by the size of the "
        "class. The highest is that of the smallest class; the average is over all rows: classes divided by rows.",
    ),
    (
        "Below k, at risk",
        "Rows in classes of fewer than k rows, and their share of all rows. The chance of picking the right person out "
        "of a class is 1 divided by its size.",
    ),
    (
        "Entity",
        "A person who may have several rows. Classes then count persons, not rows.",
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
        "What a reader of the table must not learn about a person, such as a diagnosis. It is assumed to be unknown "
        "outside the table.",
    ),
    (
        "Known for certain, guessed right",
        "A sensitive value is known for certain if all rows of a class share it, however large the class is. The best "
        "guess is the commonest value of a class; how often it is right is compared with naming the table's commonest "
        "value for everyone.",
    ),
    (
        "Minimal column set",
        "A set of columns with the named problem, while no smaller part of it has it. To solve it, a column of each "
        "minimal set must be withheld or its values made coarser.",
    ),
    ("Key", "A column set on which no two rows agree."),
    (
        "Distinct ratio",
        "The number of classes divided by the number of rows; 1 means that each row has a class of its own.",
    ),
    ("Separation ratio", "The share of all pairs of rows that differ in a column set."),
    ("NULL", "An empty cell. The report says whether it counts as a value of its own or matches any value."),
    ("Withhold", "Not to publish a column."),
    (
        "Inconclusive",
        "The audit ended before a verdict: its budget was spent, it was interrupted, or there were no rows. "
        "It must not be read as a pass.",
    ),
    ("Statement", "A query sent to the database (a SELECT). An audit queries only counts and writes nothing."),
    ("Configuration hash", "A checksum of the policy file. Equal hashes mean that the same rules were applied."),
)
