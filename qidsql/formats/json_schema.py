"""JSON Schemas (draft 2020-12) of what `--format json` writes: published, so that programs can rely on it.

Keys may be added under the same `format`; a key that changes its meaning changes `format`. Figures that --min-count
left out are null, the rows of a small table {"at_least", "at_most"}.
"""

from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
FLAG: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer", "minimum": 0}
SECONDS: Schema = {"type": "number", "minimum": 0}
MOMENT: Schema = {"type": "string", "format": "date-time"}
FORMAT: Schema = {"const": 1}
FORMAT_OF_AUDITS: Schema = {"const": 2, "description": "1 had the column sets in each search and in each finding too"}
COUNT: Schema = {"$ref": "#/$defs/count"}
SHARE: Schema = {"$ref": "#/$defs/share"}
PROFILE: Schema = {"$ref": "#/$defs/profile"}


def some(description: str, **keys: Schema) -> Schema:
    """An object that has all these keys."""
    return {"type": "object", "description": description, "properties": keys, "required": list(keys)}


def merged(schema: Schema, **keys: Schema) -> Schema:
    """The object with more keys, which need not be there."""
    return {**schema, "properties": {**schema["properties"], **keys}}


def optional(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def every(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def one_of(*words: str) -> Schema:
    return {"enum": list(words)}


def audit() -> Schema:
    """The schema of what `qidsql audit --format json` writes."""
    return published("audit", AUDIT)


def run() -> Schema:
    """The schema of a run document: what `qidsql run --format json` writes, and `--min-count` of one audit."""
    return published("run", RUN)


def published(name: str, schema: Schema) -> Schema:
    """A schema as it is printed, with its name and the definitions that it refers to."""
    version = schema["properties"]["format"]["const"]
    return {
        "$schema": DRAFT,
        "$id": f"urn:qidsql:{name}:{version}",
        "title": f"qidsql {name}",
        **schema,
        "$defs": DEFINITIONS,
    }


MEASURES = {
    "classes": optional(WHOLE),
    "smallest": COUNT,
    "largest": COUNT,
    "k": WHOLE,
    "classes_at_risk": optional(WHOLE),
    "rows_at_risk": COUNT,
    "unique_rows": COUNT,
    "colliding_pairs": optional(WHOLE),
    "distinct_ratio": SHARE,
    "separation_ratio": SHARE,
    "share_at_risk": SHARE,
}
DEFINITIONS: Schema = {
    "count": {
        "description": "a number of rows (or entities): exact, or null where it is not known or hidden (--min-count); "
        "a range for the rows of a table that has too few of them to tell",
        "anyOf": [
            WHOLE,
            {"type": "null"},
            some("a range", at_least=WHOLE, at_most=WHOLE),
        ],
    },
    "share": {
        "description": "a ratio for display; the counts beside it are exact",
        "anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}],
    },
    "profile": {
        "description": "the class profile of a column set; with an entity, `entities` stands in place of `rows`",
        "type": "object",
        "properties": {"rows": COUNT, "entities": COUNT, **MEASURES},
        "required": list(MEASURES),
        "oneOf": [{"required": ["rows"]}, {"required": ["entities"]}],
    },
    "column_set": {
        "description": "a column set with its class profile",
        "type": "object",
        "properties": {"columns": TEXTS, "criterion": TEXT, "rows": COUNT, "entities": COUNT, **MEASURES},
        "required": ["columns", *MEASURES],
    },
}
COLUMN_SET: Schema = {"$ref": "#/$defs/column_set"}
POLICY = some(
    "the options of the audit; ratios as people type them",
    k=WHOLE,
    distinct=optional(TEXT),
    separation=optional(TEXT),
    rows_at_risk=optional(TEXT),
    columns=TEXTS,
    exclude=TEXTS,
    identifiers=TEXTS,
    sensitive=TEXTS,
    quasi_identifiers=TEXTS,
    keep_identifiers=FLAG,
    where=optional(TEXT),
    entity=optional(TEXT),
    nulls=one_of("equal", "wildcard"),
    max_size=optional(WHOLE),
    max_statements=optional(WHOLE),
    max_seconds=optional(SECONDS),
)
COLUMN = some(
    "a column: what it is to the audit, why, and its own profile where it was measured",
    name=TEXT,
    type=TEXT,
    role=one_of("quasi-identifier", "direct identifier", "sensitive", "entity", "excluded", "unreadable"),
    audited=FLAG,
    recognised={**FLAG, "description": "a direct identifier that nobody declared"},
    reason=TEXT,
    nulls=COUNT,
    profile=optional(PROFILE),
    without={**optional(PROFILE), "description": "of the other audited columns: what withholding this one would leave"},
)
SEARCH = some(
    "the minimal column sets that meet one criterion",
    criterion=TEXT,
    complete={**FLAG, "description": "the list is proved whole"},
    complete_to_size=WHOLE,
    algorithm=TEXT,
    impossible={**TEXT, "description": "why there can be none; empty otherwise"},
    unfinished={**TEXT, "description": "why the list is not whole; empty otherwise"},
)
WITHHELD: Schema = {
    "description": "what would be left when these columns were not published",
    "type": "object",
    "properties": {"columns": TEXTS, "passes": FLAG, "still": TEXT, "rows": COUNT, "entities": COUNT, **MEASURES},
    "required": ["columns", "passes", "still", *MEASURES],
}
SIZES = every(some("rows by class size", low=WHOLE, high=optional(WHOLE), classes=optional(WHOLE), rows=COUNT))
VERDICTS = one_of("pass", "violation", "error", "inconclusive")
AUDIT = some(
    "what one audit found out",
    format=FORMAT_OF_AUDITS,
    qidsql={**TEXT, "description": "the version that wrote this"},
    verdict=one_of("pass", "violation", "inconclusive"),
    reason={**TEXT, "description": "why, in one sentence"},
    source=TEXT,
    engine=TEXT,
    table=TEXT,
    kind=TEXT,
    snapshot=TEXT,
    started=MOMENT,
    seconds=SECONDS,
    policy=POLICY,
    rows=COUNT,
    statements=WHOLE,
    scans=WHOLE,
    sets_profiled=WHOLE,
    unfinished={**TEXTS, "description": "what is left undone, and why; empty when the work came to its end"},
    notes=TEXTS,
    entities=COUNT,
    columns=every(COLUMN),
    profile={**optional(PROFILE), "description": "of all audited columns together"},
    class_sizes=SIZES,
    column_sets={**every(COLUMN_SET), "description": "those of all searches, each with its criterion"},
    complete={**FLAG, "description": "every search has listed all that there is"},
    searches=every(SEARCH),
    withheld=every(WITHHELD),
    least_withheld=optional(some("the fewest columns to withhold to reach k", columns=TEXTS, at_least=WHOLE)),
    assumptions={**TEXTS, "description": "what the verdict takes for granted"},
)
FOUND: Schema = {
    "description": "k (the smallest class), rows_at_risk, share_at_risk, the ratios; those that apply",
    "type": "object",
    "additionalProperties": {"anyOf": [COUNT, SHARE]},
}
FINDING = some(
    "one thing to know of a table",
    id={**TEXT, "description": "the same in every run"},
    kind=one_of(
        *("k-anonymity", "below-k", "key", "distinct", "separation", "rows-at-risk", "direct-identifier"),
    ),
    columns=TEXTS,
    measures=FOUND,
    state=one_of("new", "worse", "better", "unchanged", "gone", "excepted", "policy changed"),
    was={**optional(FOUND), "description": "its measures in the run that it is compared with"},
    exception=optional(some("why it is accepted", reason=TEXT, expires=optional({"type": "string", "format": "date"}))),
    text={**TEXT, "description": "one sentence"},
)
PLACED: Schema = {
    **merged(
        FINDING,
        column_set={**WHOLE, "description": "its place in the audit's column_sets, which tell its measures"},
        was={
            **optional(FOUND),
            "description": f"{FINDING['properties']['was']['description']}; of a column_set the "
            "measures that are other than now",
        },
    ),
    "required": [key for key in FINDING["required"] if key != "measures"],
    "oneOf": [{"required": ["measures"]}, {"required": ["column_set"]}],
}
POINT = some(
    "the table in an earlier run",
    run=TEXT,
    started=MOMENT,
    verdict=VERDICTS,
    rows=COUNT,
    k=COUNT,
    share_at_risk=SHARE,
)
POINT["properties"]["question"] = {
    **optional(TEXT),
    "description": "a fingerprint of the policy: the figures of two points compare where it is the same",
}
TABLE = some(
    "one table of a run",
    source={**TEXT, "description": "its name in the policy file"},
    source_label={**TEXT, "description": "the source as people may see it, without secrets"},
    table=TEXT,
    line={**optional(WHOLE), "description": "of the policy file"},
    owner=optional(TEXT),
    verdict=VERDICTS,
    reason=TEXT,
    error=optional(TEXT),
    resumed=FLAG,
    audit=optional(AUDIT),
    findings=every(PLACED),
    trend={**every(POINT), "description": "oldest first"},
)
TABLE["properties"]["policy_changed"] = {
    **TEXTS,
    "description": "the settings in which the policy differs from that of the run compared with, such as k 5 -> 2; "
    "findings are compared where there are none",
}
GAP = some(
    "a table, or a column of one, that the policy and the source do not agree about",
    id={**TEXT, "description": "the same in every run"},
    source=TEXT,
    table=TEXT,
    column={**optional(TEXT), "description": "null: the table itself"},
    change=one_of("unknown", "vanished", "retyped", "undecided", "unreadable"),
    severity=one_of("violation", "warning"),
    state=one_of("new", "unchanged"),
    roles={**TEXTS, "description": "proposed for what is unknown"},
    owner=optional(TEXT),
    text={**TEXT, "description": "one sentence"},
)
COVERED = {
    "tables": WHOLE,
    "tables_covered": WHOLE,
    "columns": {**WHOLE, "description": "of these tables"},
    "columns_covered": WHOLE,
}
COVERAGE = some(
    "which tables and columns of the sources the policy covers: part of the verdict",
    text={**TEXT, "description": "34 of 36 tables, 212 of 219 columns covered; it stands in the reason of the run too"},
    verdict=one_of("pass", "violation", "error"),
    **COVERED,
    part={**FLAG, "description": "only the tables that were asked for were looked at"},
    sources=every(
        some(
            "one source of the policy file",
            source=TEXT,
            label=TEXT,
            **COVERED,
            out_of_scope={**WHOLE, "description": "tables that the policy file does not answer for"},
            mend={**TEXT, "description": "the command that adds what is unknown to the policy file"},
            error={**optional(TEXT), "description": "why its catalog could not be read"},
        )
    ),
    gaps=every(GAP),
)
RUN = some(
    "what a run over many tables found out",
    format=FORMAT_OF_AUDITS,
    qidsql=TEXT,
    kind={"const": "run"},
    run=TEXT,
    started=MOMENT,
    finished=MOMENT,
    seconds=SECONDS,
    config=optional(some("the policy file", path=TEXT, hash=TEXT)),
    verdict=VERDICTS,
    reason=TEXT,
    only={**TEXTS, "description": "the tables and patterns that were asked for; empty: all of the policy file"},
    complete={**FLAG, "description": "every table that was asked for was reached"},
    interrupted={**FLAG, "description": "it was told to end before its end"},
    fail_on=TEXT,
    exit_code={"enum": [0, 1, 2, 3]},
    baseline=optional(some("the run that findings are compared with", run=TEXT, started=MOMENT)),
    statements=WHOLE,
    notes=TEXTS,
    tables=every(TABLE),
)
RUN["properties"]["coverage"] = optional(COVERAGE)
RUN["properties"]["min_count"] = {"type": "integer", "minimum": 2, "description": "counts of rows are left out"}
