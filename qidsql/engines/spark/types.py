"""The columns of a query's result as a Spark Connect server describes them."""

from typing import Any

from qidsql.core.tables import Column, Comparison, ValueKind
from qidsql.engines.spark.messages import TYPES

NO_EQUALITY = ("map", "variant", "user_defined", "unparsed", "geometry", "geography")  # cannot be put into classes
PATTERNS = (
    (ValueKind.WHOLE, r"tinyint|smallint|int|bigint"),
    (ValueKind.DECIMAL, r"decimal\(.*"),
    (ValueKind.FLOAT, r"float|double"),
    (ValueKind.TEXT, r"(string|char|varchar)\b.*"),
    (ValueKind.DATE, r"date"),
    (ValueKind.TIMESTAMP, r"timestamp_ntz"),
    (ValueKind.ZONED, r"timestamp"),
)
BYTES = ("", "UTF8_BINARY")  # collations that compare bytes


WIDTHS = {"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "float": 4, "date": 4, "decimal": 16, "null": 1}
TEXT_WIDTH, USUAL_WIDTH = 20, 8  # bytes, as Spark itself assumes


def width(kind: Any) -> int:
    """About how many bytes a value of the type has."""
    name = next((name for name in TYPES if kind.HasField(name)), "unparsed")
    usual = TEXT_WIDTH if name in ("string", "char", "varchar", "binary") else USUAL_WIDTH
    return WIDTHS.get(name, usual)


def column(field: Any) -> Column:
    """A field of a result. It is not readable if its values cannot be put into classes."""
    kind = field.data_type
    obstacle = without_equality(kind)
    if obstacle is not None:
        obstacle = f"values of type {obstacle} cannot be compared; audit a view that makes them texts"
    return Column(field.name, type_name(kind), field.nullable, obstacle is None, _comparison(kind), obstacle or "")


def _comparison(kind: Any) -> Comparison:
    if kind.HasField("float") or kind.HasField("double"):
        return Comparison.NUMBER
    collated = kind.HasField("string") and kind.string.collation not in BYTES
    return Comparison.BYTES if collated else Comparison.VALUE


def type_name(kind: Any) -> str:
    """A type as SQL names it."""
    name = next((name for name in TYPES if kind.HasField(name)), "unparsed")
    if name == "decimal":
        return f"DECIMAL({kind.decimal.precision}, {kind.decimal.scale})"
    if name == "string" and kind.string.collation not in BYTES:
        return f"STRING COLLATE {kind.string.collation}"
    if name in ("char", "varchar"):
        return f"{name.upper()}({getattr(kind, name).length})"
    if name == "array":
        return f"ARRAY<{type_name(kind.array.element_type)}>"
    if name == "struct":
        inside = ", ".join(f"{field.name}: {type_name(field.data_type)}" for field in kind.struct.fields)
        return f"STRUCT<{inside}>"
    return name.replace("_", " ").upper() if name != "timestamp_ntz" else "TIMESTAMP_NTZ"


def without_equality(kind: Any, inside: bool = False) -> str | None:
    """The name of a type, at any depth, whose values cannot be put into classes; None if all can.

    `inside` an array or struct also those that `comparable` of the dialect casts: Spark takes texts of a collation for
    equal there, Sail tells -0.0 from 0.0.
    """
    for name in NO_EQUALITY:
        if kind.HasField(name):
            return name.upper()
    if inside and _comparison(kind) is not Comparison.VALUE:
        return f"{type_name(kind)} inside an array or struct"
    if kind.HasField("array"):
        return without_equality(kind.array.element_type, True)
    if kind.HasField("struct"):
        return next(filter(None, (without_equality(field.data_type, True) for field in kind.struct.fields)), None)
    return None
