"""The classes of trials, each a module beside this one, in the order in which they are printed."""

CLASSES: tuple[str, ...] = (
    "audits",
    "searches",
    "rounds",
    "limits",
    "proposed_roles",
    "populations",
    "protections",
    "anonymizations",
    "risks",
    "truncated",
    "sampling",
    "conditions",
    "coverage",
    "min_count",
    "identifiers",
    "canaries",
    "connections",
    "kills",
    "schema_changes",
    "mutants",
)
