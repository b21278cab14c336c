"""The terms of reports, explained for readers without a background in statistics."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """A term with its meaning; `words` are those whose appearance in a report calls for it."""

    name: str
    meaning: str
    words: str


def terms_in(text: str) -> list[GlossaryEntry]:
    """The terms that occur in a text."""
    return [each for each in (*GLOSSARY, *FURTHER) if re.search(rf"(?i)(?<!\w)(?:{each.words})(?!\w)", text)]


GLOSSARY = (
    GlossaryEntry(
        "Class (equivalence class)",
        "All rows that have the same values in the audited columns. Someone who knows these values of a person "
        "finds the class, and cannot tell from them which of its rows is the person's; what all its rows have in "
        "common is known all the same.",
        r"class|classes",
    ),
    GlossaryEntry(
        "k-anonymous, smallest class",
        "A table is k-anonymous when every class has at least k rows. The smallest class is the k that the table "
        "reaches. 1 means that some row is unique.",
        r"k-anonym|[0-9]-anonym|smallest",
    ),
    GlossaryEntry(
        "Highest and average risk",
        "The chance of finding the right row of a person who is known to be in the table: 1 divided by the size "
        "of the class. The highest is that of the smallest class; the average is over all rows: classes divided "
        "by rows.",
        r"highest risk|average risk|prosecutor",
    ),
    GlossaryEntry(
        "Below k",
        "Rows in classes of fewer than k rows, and their share of all rows. The chance of picking the right "
        "person out of a class is 1 divided by its size.",
        r"below k|below [0-9]",
    ),
    GlossaryEntry(
        "Entity",
        "A person who may have several rows. Classes then count persons, not rows.",
        r"entity|entities",
    ),
    GlossaryEntry(
        "Quasi-identifier",
        "A column that does not name a person, but may be known from elsewhere: a date of birth, a postal code. "
        "These columns are audited, all together.",
        r"quasi-identifier|quasi-identifiers",
    ),
    GlossaryEntry(
        "Direct identifier",
        "A column whose values belong to one person each, such as a record number. It must not be published, and "
        "the audit leaves it out.",
        r"direct identifier|identifier",
    ),
    GlossaryEntry(
        "Sensitive",
        "What a reader of the table must not learn about a person, such as a diagnosis. It is assumed to be "
        "unknown outside the table.",
        r"sensitive",
    ),
    GlossaryEntry(
        "Known for certain, guessed right",
        "A sensitive value is known for certain if all rows of a class share it, however large the class is. The "
        "best guess is the commonest value of a class; how often it is right is compared with naming the table's "
        "commonest value for everyone.",
        r"disclosed|best guess",
    ),
    GlossaryEntry(
        "Minimal column set",
        "A set of columns with the named problem, while no smaller part of it has it. To solve it, a column of "
        "each minimal set must be withheld or its values made coarser.",
        r"minimal sets?|minimal column sets?",
    ),
    GlossaryEntry(
        "Key",
        "A column set on which no two rows agree.",
        r"key|keys",
    ),
    GlossaryEntry(
        "Distinct ratio",
        "The number of classes divided by the number of rows; 1 means that each row has a class of its own.",
        r"distinct ratio|'Distinct'",
    ),
    GlossaryEntry(
        "Separation ratio",
        "The share of all pairs of rows that differ in a column set.",
        r"separation|separation ratio",
    ),
    GlossaryEntry(
        "NULL",
        "An empty cell. The report says whether it counts as a value of its own or matches any value.",
        r"NULL",
    ),
    GlossaryEntry(
        "Withhold",
        "Not to publish a column.",
        r"withhold|withheld",
    ),
    GlossaryEntry(
        "Inconclusive",
        "The audit ended before a verdict: its budget was spent, it was interrupted, or there were no rows. It "
        "must not be read as a pass.",
        r"inconclusive",
    ),
    GlossaryEntry(
        "Statement",
        "A query sent to the database (a SELECT). An audit writes nothing. The report says what it received.",
        r"statement|statements",
    ),
    GlossaryEntry(
        "Configuration hash",
        "A checksum of the policy file. Equal hashes mean that the same rules were applied.",
        r"configuration",
    ),
)  # of audits and runs
FURTHER = (
    GlossaryEntry(
        "Column set",
        "Some of the table's columns, taken together.",
        r"column set|column sets",
    ),
    GlossaryEntry(
        "Unique",
        "Alone in its class: nobody else in the table has the same values.",
        r"unique",
    ),
    GlossaryEntry(
        "Suppressed",
        "A value that was taken out of its row: the cell is empty in the copy, or has a mark.",
        r"suppressed|suppression|suppress",
    ),
    GlossaryEntry(
        "Disjoint matchings",
        "Ways to give each person one of the released rows. With k of them in which nobody has the same row twice, "
        "each person could be behind k rows, also for someone who knows everybody.",
        r"disjoint matchings",
    ),
    GlossaryEntry(
        "Matches",
        "Two rows match if they have the same values where both have one; an empty cell could have been anything.",
        r"matches|matching|match",
    ),
    GlossaryEntry(
        "Weight",
        "A number that says how much a column or value is worth: what is lost is kept small by weight, not by count.",
        r"weight|weights|weighs",
    ),
    GlossaryEntry(
        "Proved optimal",
        "No other choice of this kind loses less, and the result contains what is needed to check that.",
        r"optimal",
    ),
    GlossaryEntry(
        "Bound",
        "What is proved to be the least, or the most, that any choice of this kind can reach.",
        r"bound|bounds",
    ),
    GlossaryEntry(
        "Unsafe combination",
        "Values of a few columns that fewer than k rows share; minimal if no part of it is unsafe.",
        r"unsafe",
    ),
    GlossaryEntry(
        "Population",
        "All people about whom others may have data, of whom the table shows some.",
        r"population",
    ),
    GlossaryEntry(
        "k-map",
        "Each row could be at least k people of the population, whoever is in the table.",
        r"k-map",
    ),
    GlossaryEntry(
        "Journalist, marketer",
        "Someone who does not know who is in the table: the chance of one right guess, and the share of right "
        "guesses if all rows are linked.",
        r"journalist|marketer",
    ),
    GlossaryEntry(
        "Presence",
        "How certain it becomes that a person of the population is in the table.",
        r"presence",
    ),
    GlossaryEntry(
        "Estimate",
        "A figure for people outside the table, computed from the table; it can be wrong.",
        r"estimate|estimates|estimated",
    ),
    GlossaryEntry(
        "Join",
        "To put rows of two tables together that have the same values in the joined columns.",
        r"join|joins|joined|joinable",
    ),
    GlossaryEntry(
        "Separate, separating set",
        "Attributes that lie on every way from a person to a secret: without them no way is left.",
        r"separate|separates|separating",
    ),
    GlossaryEntry(
        "Path",
        "A way from an attribute that names people to a secret, from table to table, by columns that others can join.",
        r"path|paths",
    ),
    GlossaryEntry(
        "Confidence interval",
        "The range in which a percentage lies with 95 % certainty, if the rows are a sample.",
        r"confidence",
    ),
    GlossaryEntry(
        "Regression",
        "A formula that explains one column by others; it should be much the same before and after.",
        r"regression",
    ),
    GlossaryEntry(
        "Duplicate",
        "A row that has the same values as another one in the columns searched.",
        r"duplicate|duplicates",
    ),
    GlossaryEntry(
        "View",
        "A stored query that shows a table with fewer columns or rows.",
        r"view|views",
    ),
    GlossaryEntry(
        "Sample",
        "Some rows, drawn at random: what is said of all rows then holds with a stated certainty.",
        r"sample|samples",
    ),
)
