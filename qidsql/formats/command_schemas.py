"""JSON Schemas of what the commands besides audit and run write with `--format json`, by the names of the commands."""

from qidsql.formats.json_schema import (
    COLUMN_SET,
    COUNT,
    FINDING,
    FLAG,
    FORMAT,
    GAP,
    MEASURES,
    MOMENT,
    POLICY,
    PROFILE,
    SECONDS,
    SIZES,
    TEXT,
    TEXTS,
    VERDICTS,
    WHOLE,
    Schema,
    every,
    merged,
    one_of,
    optional,
    published,
    some,
)

NUMBER: Schema = {"type": "number"}
COUNTS: Schema = {"type": "object", "additionalProperties": WHOLE}
PAIR: Schema = {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}
ENDS: Schema = {"type": "array", "items": optional(NUMBER), "minItems": 2, "maxItems": 2}
REASONED = every(some("a name with a reason", name=TEXT, reason=TEXT))
SCRIPT: Schema = {**TEXTS, "description": "statements that would carry it out, none of which was run"}
TARGET = {
    "target": {**optional(TEXT), "description": "the copy that was written"},
    "copied": {**TEXTS, "description": "columns that stand in the copy as they are"},
    "not_copied": REASONED,
    "script": SCRIPT,
}
OUTCOMES = one_of("finished", "violation", "inconclusive")
DONE = {
    "statements": WHOLE,
    "seconds": SECONDS,
    "notes": TEXTS,
}
WORK = {
    "format": FORMAT,
    "qidsql": TEXT,
    "verdict": OUTCOMES,
    "reason": TEXT,
    "source": TEXT,
    "engine": TEXT,
    "table": TEXT,
    "kind": TEXT,
    "snapshot": TEXT,
    "started": MOMENT,
    "policy": POLICY,
    "rows": optional(WHOLE),
    "scans": WHOLE,
    "sets_profiled": WHOLE,
    "unfinished": TEXTS,
    **DONE,
}
SEARCHED = {
    **WORK,
    "entities": optional(WHOLE),
    "columns": TEXTS,
    "left_out": REASONED,
    "weights": {**COUNTS, "description": "of the columns that do not count 1"},
}
CERTIFICATE = optional(
    some(
        "what an answer found on a sample rests on: it keeps the promise with a probability of 1 - delta",
        promise=TEXT,
        unit=one_of("rows", "pairs of rows"),
        sizes=every(WHOLE),
        seed={"type": "integer"},
        delta=TEXT,
        epsilon=optional(TEXT),
        verified=FLAG,
    )
)
ANSWER = {"criterion": TEXT, "algorithm": TEXT, "optimal": FLAG, "certificate": CERTIFICATE}
FOUND: Schema = {
    "description": "a column set; its measures where the full table was asked",
    "type": "object",
    "properties": {
        "columns": TEXTS,
        "weight": WHOLE,
        "meets": optional(FLAG),
        "rows": COUNT,
        "entities": COUNT,
        **MEASURES,
    },
    "required": ["columns", "weight", "meets"],
}
COST = {"cost": optional(WHOLE), "lower_bound": optional(WHOLE)}
RECORD = merged(some("a record at risk", record=WHOLE, score=NUMBER, combinations=WHOLE, smallest=WHOLE), key=TEXT)
SCORES = some(
    "risk scores of the records",
    kind=TEXT,
    sampling_fraction=optional(TEXT),
    total=optional(WHOLE),
    distribution=every(some("rows by score", above=optional(NUMBER), up_to=optional(NUMBER), rows=WHOLE)),
    top=every(RECORD),
)
LOSS = some(
    "what a column loses",
    name=TEXT,
    weight=WHOLE,
    cells=WHOLE,
    values=WHOLE,
    values_touched=WHOLE,
    values_gone=WHOLE,
    most=every(some("a value, where values were asked for", value=optional(TEXT), cells=WHOLE, of=WHOLE)),
)
VALUE = merged(
    some(
        "a value by its rank among the column's values",
        rank=WHOLE,
        rows_before=WHOLE,
        rows_after=WHOLE,
        percent_before=optional(NUMBER),
        percent_after=optional(NUMBER),
        interval_before=optional(ENDS),
        interval_after=optional(ENDS),
        relative_difference=optional(NUMBER),
        overlap=optional(FLAG),
    ),
    value=TEXT,
)
MOST = merged(some("the value that lost most", suppressed=WHOLE, percent=optional(NUMBER), rank=WHOLE), value=TEXT)
VARIABLE = some(
    "a column of both tables",
    name=TEXT,
    type_before=TEXT,
    type_after=TEXT,
    nulls_before=WHOLE,
    nulls_after=WHOLE,
    suppressed={"type": "integer"},
    suppressed_percent=optional(NUMBER),
    values_before=WHOLE,
    values_after=WHOLE,
    vanished=WHOLE,
    added=WHOLE,
    gained=WHOLE,
    most_suppressed=optional(MOST),
    values=optional(every(VALUE)),
)
MODEL: Schema = {
    "description": "one regression: the fit, or the reason why there is none",
    "type": "object",
    "properties": {
        "data": TEXT,
        "fitted": FLAG,
        "reason": TEXT,
        **dict.fromkeys(("r_squared", "residual_standard_error", "f", "p"), NUMBER),
        "rows": WHOLE,
        "degrees_of_freedom": every(WHOLE),
        "significant": TEXTS,
        "covariates": every({"type": "object", "required": ["name", "p"]}),
        "coefficients": every({"type": "object", "required": ["covariate", "estimate", "p"]}),
        "collinear": every({"type": "object", "required": ["covariate"]}),
    },
    "required": ["data", "fitted"],
}
PATH = some("a way from an identifier to a sensitive attribute", attributes=TEXTS, tables=TEXTS, cut_at=TEXTS)
PROTECTION = some(
    "what protecting the tables to be published can do",
    tables=every(some("a table", table=TEXT, columns=TEXTS, cut=TEXTS, identifiers=TEXTS, sensitive=TEXTS)),
    sufficient=FLAG,
    exposed={"type": "object", "additionalProperties": TEXTS},
    way_round=optional(PATH),
)
MATCHES = some(
    "the rows of one table by how many rows of the other they match",
    rows=WHOLE,
    with_null=WHOLE,
    matching_none=WHOLE,
    matching_one=WHOLE,
    matching_several=WHOLE,
    matching_below_k=WHOLE,
    share_below_k=TEXT,
)
LINKED = some(
    "what a join does to the rows of both tables",
    columns=every(some("a pair", left=TEXT, right=TEXT)),
    left=MATCHES,
    right=MATCHES,
    singled_out=WHOLE,
)
CONTAINMENT: Schema = {
    "description": "a column of each table, and how many values they share",
    "type": "object",
    "properties": {
        **dict.fromkeys(("left", "right", "compared_as", "ground"), TEXT),
        **dict.fromkeys(("left_values", "right_values", "common"), optional(WHOLE)),
        **dict.fromkeys(("left_in_right", "right_in_left"), optional(TEXT)),
        "joinable": FLAG,
    },
    "required": ["left", "right", "joinable", "ground"],
}
CHECKS = every(some("a finding", state=one_of("ok", "note", "warning", "problem"), text=TEXT, remedy=TEXT))
PROPOSAL = some("a column", column=TEXT, type=TEXT, role=TEXT, reason=TEXT, doubt=TEXT, readable=FLAG)
HEAD = some("a run", run=TEXT, started=MOMENT, verdict=VERDICTS)
RUN_HEAD = some(
    "a run",
    number=WHOLE,
    run=TEXT,
    started=MOMENT,
    seconds=SECONDS,
    verdict=VERDICTS,
    reason=TEXT,
    complete=FLAG,
    tables=WHOLE,
    statements=WHOLE,
    baseline=optional(TEXT),
)
TABLE_RUN = some(
    "a table in a run",
    number=WHOLE,
    run=TEXT,
    started=MOMENT,
    verdict=VERDICTS,
    reason=TEXT,
    rows=optional(WHOLE),
    k=optional(WHOLE),
    k_asked=optional(WHOLE),
    share_at_risk=optional(NUMBER),
    complete=FLAG,
    question={**optional(TEXT), "description": "a fingerprint of the policy: figures compare where it is the same"},
)
HISTORY: Schema = {
    **merged(
        some("the recorded runs, newest first", format=FORMAT, kind={"const": "history"}, history=TEXT),
        source=TEXT,
        table=TEXT,
        runs=every({"anyOf": [RUN_HEAD, TABLE_RUN]}),
    ),
    "required": ["format", "kind", "history", "runs"],
}
DIFF = some(
    "what changed between two runs",
    format=FORMAT,
    kind={"const": "diff"},
    before=HEAD,
    after=HEAD,
    coverage=optional(
        some(
            "what the policy covered (null: one of the runs did not look)",
            before=TEXT,
            after=TEXT,
            new=every(GAP),
            gone=every(GAP),
        )
    ),
    tables=every(
        some(
            "a table, with its verdict in each run (null: not audited)",
            source=TEXT,
            table=TEXT,
            was=optional(VERDICTS),
            now=optional(VERDICTS),
            policy_changed={**TEXTS, "description": "the settings that differ; findings are compared where none does"},
            findings=every(FINDING),
        )
    ),
)
DAY: Schema = {"type": "string", "format": "date"}
ALERTS = some(
    "the alerts of a policy file",
    format=FORMAT,
    kind={"const": "alerts"},
    alerts=every(
        some(
            "an alert: whom it tells of what; never an address",
            alert={**TEXT, "description": "its name in the policy file"},
            kind=one_of("webhook", "slack", "teams", "command", "email"),
            on=every(one_of("violation", "worse", "error", "inconclusive")),
            owners={**TEXTS, "description": "whose tables alone it is about; empty: all"},
            tables={**TEXTS, "description": "the tables and patterns that alone it is about; empty: all"},
            snoozed=every(some("silence that still lasts", table=TEXT, until=DAY, reason=TEXT)),
            told=every(
                some(
                    "what it told last and is no pass; of the run as a whole with an empty table",
                    source=TEXT,
                    table=TEXT,
                    verdict=VERDICTS,
                )
            ),
            kept=every(
                some(
                    "a message that has not arrived, oldest first",
                    id=TEXT,
                    since=MOMENT,
                    attempts=WHOLE,
                    failure={**TEXT, "description": "why the last attempt failed; empty before the first"},
                    text=TEXT,
                )
            ),
        )
    ),
)
COMMANDS: dict[str, Schema] = {
    "profile": some(
        "the measures of one column set",
        **{name: WORK[name] for name in ("format", "qidsql", "source", "engine", "table", "kind", "policy", "rows")},
        **DONE,
        unfinished=TEXTS,
        column_sets=every(COLUMN_SET),
        class_sizes=SIZES,
    ),
    "keys": some(
        "column sets that meet a criterion, smallest first",
        **SEARCHED,
        **ANSWER,
        **COST,
        wanted=TEXT,
        column_sets=every(FOUND),
        by_size=COUNTS,
        minimal=FLAG,
        complete=FLAG,
        complete_to_size=WHOLE,
        impossible=TEXT,
        profile=optional(PROFILE),
    ),
    "mask": some(
        "which columns can be published together",
        **SEARCHED,
        **ANSWER,
        published=TEXTS,
        withheld=TEXTS,
        weight=WHOLE,
        bound=optional(WHOLE),
        safe=optional(FLAG),
        profile=optional(PROFILE),
        script=SCRIPT,
    ),
    "uniques": some(
        "the minimal unsafe combinations of a table, counted",
        **SEARCHED,
        k=WHOLE,
        algorithm=TEXT,
        combinations=WHOLE,
        by_size=COUNTS,
        by_column=every(some("a column", name=TEXT, combinations=WHOLE, contribution=NUMBER)),
        column_sets=every(some("a column set", columns=TEXTS, combinations=WHOLE)),
        column_sets_in_all=WHOLE,
        rows_at_risk=WHOLE,
        by_smallest=COUNTS,
        complete=FLAG,
        rows_looked_at=WHOLE,
        complete_to_size=WHOLE,
        scores=optional(SCORES),
        into=optional(TEXT),
        listed=optional(WHOLE),
        key=optional(TEXT),
        values_listed=FLAG,
    ),
    "suppress": some(
        "the lightest suppression",
        **SEARCHED,
        **COST,
        **TARGET,
        k=WHOLE,
        method=TEXT,
        optimal=FLAG,
        cells=optional(WHOLE),
        records=optional(WHOLE),
        by_cells=COUNTS,
        losses=every(LOSS),
        algorithm=TEXTS,
        masks=WHOLE,
        at_risk=optional(WHOLE),
    ),
    "anonymize": some(
        "the cells to suppress so that every row is identical to k - 1 others",
        **SEARCHED,
        **COST,
        **TARGET,
        algorithm=TEXT,
        optimal=FLAG,
        cells=optional(WHOLE),
        by_column=COUNTS,
        rows_touched=WHOLE,
        rows_blank=WHOLE,
        row_patterns=WHOLE,
        after=optional(PROFILE),
    ),
    "impact": some(
        "what protection did to a table",
        **SEARCHED,
        protected=TEXT,
        rows_before=optional(WHOLE),
        rows_after=optional(WHOLE),
        weight=optional(TEXT),
        mark=optional(TEXT),
        missing_columns=TEXTS,
        extra_columns=TEXTS,
        suppressed={"type": "integer"},
        variables=every(VARIABLE),
        values_compared=WHOLE,
        values_overlapping=WHOLE,
        differences=optional(some("in percentage points", least=NUMBER, greatest=NUMBER, mean=NUMBER, median=NUMBER)),
        regression=optional(some("before and after", outcome=TEXT, covariates=TEXTS, models=every(MODEL))),
    ),
    "graph": some(
        "which attributes separate identifiers from sensitive ones",
        **{name: WORK[name] for name in ("format", "qidsql", "verdict", "reason", "source", "engine", "started")},
        **{name: WORK[name] for name in ("scans", "unfinished")},
        **DONE,
        **COST,
        schema=optional(TEXT),
        outside=optional(TEXT),
        exclude=TEXTS,
        algorithm=TEXT,
        identifiers=TEXTS,
        sensitive=TEXTS,
        cut=optional(TEXTS),
        column_sets=every(some("a cut", columns=TEXTS)),
        complete=FLAG,
        optimal=FLAG,
        by_sensitive={"type": "object", "additionalProperties": TEXTS},
        directed=FLAG,
        undirected_cut=optional(TEXTS),
        together=TEXTS,
        paths=every(PATH),
        paths_complete=FLAG,
        protection=optional(PROTECTION),
        attributes=every(some("an attribute", name=TEXT, part=TEXT, columns=TEXTS)),
        tables=every(
            some(
                "a table",
                name=TEXT,
                kind=TEXT,
                attributes=TEXTS,
                dependencies=every(PAIR),
                reason=TEXT,
                between=FLAG,
                protected=FLAG,
            )
        ),
        merges=every(some("columns taken for one", left=TEXT, right=TEXT, ground=TEXT, detail=TEXT)),
        refused=every(PAIR),
        then=optional(some("what was run then, with its own result", verb=TEXT, result={"type": "object"})),
    ),
    "link": some(
        "which columns of two tables are joinable, and whom a join singles out",
        **{**WORK, "verdict": VERDICTS},
        left=TEXT,
        right=TEXT,
        k=WHOLE,
        columns_compared=every(CONTAINMENT),
        columns_given=FLAG,
        link=optional(LINKED),
    ),
    "init": some(
        "the proposed roles of all columns of a source",
        format=FORMAT,
        qidsql=TEXT,
        kind={"const": "init"},
        source=TEXT,
        engine=TEXT,
        **DONE,
        roles=COUNTS,
        tables=every(
            some(
                "a table",
                table=TEXT,
                kind=TEXT,
                rows=optional(WHOLE),
                auditable=FLAG,
                of_things=FLAG,
                entity=optional(TEXT),
                entity_reason=TEXT,
                columns=every(PROPOSAL),
            )
        ),
        left_out=every(some("a table that is left out", table=TEXT, reason=TEXT)),
        unfinished=TEXTS,
        output=optional(TEXT),
        added=optional(TEXTS),
        retired={**TEXTS, "description": "what the source no longer has, now behind a # in the file"},
        gone={**TEXTS, "description": "what else it no longer has, for a person to take out"},
    ),
    "history": HISTORY,
    "diff": DIFF,
    "alerts": ALERTS,
    "doctor": some(
        "what stands in the way of an audit",
        format=FORMAT,
        qidsql=TEXT,
        kind={"const": "doctor"},
        verdict=one_of("pass", "inconclusive", "error"),
        reason=TEXT,
        source=TEXT,
        engine=optional(TEXT),
        installation=CHECKS,
        session=CHECKS,
        tables=every(
            some("a table", table=TEXT, kind=TEXT, estimated_rows=optional(WHOLE), auditable=FLAG, checks=CHECKS)
        ),
        grants=TEXTS,
        seconds=SECONDS,
    ),
}


def command(name: str) -> Schema:
    """The schema of what that command writes with `--format json`. Raises KeyError."""
    return published(name, COMMANDS[name])
