"""A query with DuckDB's own functions by their whole names: a macro of a session can have the name of any other."""

from sqlglot import exp

OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseLeftShift: "<<",
}
NAMES: dict[type[exp.Expr], str] = {
    exp.BitwiseAndAgg: "bit_and",
    exp.BitwiseOrAgg: "bit_or",
    exp.BitwiseCount: "bit_count",
}
SYNTAX = (exp.Cast, exp.Case, exp.If, exp.Coalesce, exp.And, exp.Or)  # no function that a macro could replace


def by_whole_names(query: exp.Query) -> exp.Expr:
    """A copy of the query. Raises ValueError for a function that is not known to be called so."""
    made = query.copy()
    for node in reversed(list(made.bfs())):  # children first
        found = _whole(node)
        if found is not node:
            node.replace(found)
    return made


def _whole(node: exp.Expr) -> exp.Expr:
    if type(node) in OPERATORS:
        return _own(exp.to_identifier(OPERATORS[type(node)], quoted=True).sql("duckdb"), [node.this, node.expression])
    if isinstance(node, exp.Array):
        return _own("list_value", node.expressions)
    if isinstance(node, exp.Bracket):
        place = [exp.Literal.number(int(each.name) + 1) for each in node.expressions]  # DuckDB counts from 1
        return _own("array_extract", [node.this, *place])
    if isinstance(node, exp.Extract):
        return _own("date_part", [exp.Literal.string(node.name.lower()), node.expression])
    if isinstance(node, exp.Pad):
        return _own(
            "lpad" if node.args.get("is_left") else "rpad", [node.this, node.expression, node.args["fill_pattern"]]
        )
    if isinstance(node, exp.Anonymous):
        own = "." in node.name
        return node if own else _own(node.name.lower(), node.expressions)
    if not isinstance(node, exp.Func) or isinstance(node, SYNTAX):
        return node
    given = [node.args[name] for name in node.arg_types if node.args.get(name) is not None]
    arguments = [each for one in given if one is not True for each in (one if isinstance(one, list) else [one])]
    if not all(isinstance(each, exp.Expr) for each in arguments):
        raise ValueError(f"{node.sql_name()} has an argument that is no expression")
    return _own(NAMES.get(type(node), node.sql_name().lower()), arguments)


def _own(name: str, arguments: list[exp.Expr]) -> exp.Anonymous:
    return exp.Anonymous(this=f"system.main.{name}", expressions=arguments)
