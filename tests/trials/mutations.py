"""Mutants of a module: its syntax tree with one small thing changed, as DeMillo, Lipton and Sayward (1978) have it.

The operators are those that Offutt et al. (1996) found sufficient, for Python: relations, logical connectors,
arithmetic, constants, and statements left out. Annotations, decorators, assertions and texts stay as they are.
"""

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
LEFT_OUT = (ast.Raise, ast.AugAssign, ast.Continue, ast.Break)  # and calls, and assignments to a part of something
SHORT = (ast.Constant, ast.Name)  # which say little without what is around them
UNTOUCHED = {"annotation", "returns", "decorator_list", "format_spec"}


@dataclass(frozen=True)
class Place:
    """Where a node stands: in this field of its parent, at this index of a list."""

    parent: ast.AST
    field: str
    index: int | None = None

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@dataclass(frozen=True)
class Mutant:
    """A module with one change. `function` and `change` identify it, wherever its lines move to."""

    module: str
    function: str
    change: str
    tree: ast.Module
    edit: tuple[Place, ast.AST, ast.AST] | None = None  # where, what stands there, and what takes its place

    def __str__(self) -> str:
        return f"{self.module} {self.function or 'module'}: {self.change}"

    @property
    def text(self) -> str:
        """The module as it is with the change. Not for several threads at once."""
        if self.edit is None:
            return ast.unparse(self.tree)
        place, node, other = self.edit
        place.put(ast.fix_missing_locations(other))
        text = ast.unparse(self.tree)
        place.put(node)
        return text


def mutants(module: str, text: str) -> list[Mutant]:
    """Every mutant of the module, in the order of its lines."""
    tree = ast.parse(text)
    found = []
    for node, place, function in list(_nodes(tree, ())):
        for other in _others(node):
            if place.field == "slice" and ast.unparse(other) == "-1":
                continue  # the last for the first: of the many lists of one, the same
            around = place.parent if isinstance(node, SHORT) and isinstance(place.parent, ast.expr) else node
            before = _head(around)
            place.put(other)
            after = _head(other if around is node else around)
            place.put(node)
            found.append(Mutant(module, function, f"{before} -> {after}", tree, (place, node, other)))
    return found


def unchanged(module: str, text: str) -> Mutant:
    """The module itself, written as its mutants are: tests that notice a difference say nothing about mutants."""
    return Mutant(module, "", "", ast.parse(text))


def _nodes(node: ast.AST, names: Sequence[str]) -> Iterator[tuple[ast.AST, Place, str]]:
    """Each node that may be changed, its place, and the function or class around it."""
    for field, value in ast.iter_fields(node):
        if field in UNTOUCHED:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.AnnAssign) and ast.unparse(child.annotation) == "TypeAlias":
                continue
            yield child, Place(node, field, index), ".".join(names)
            inner = isinstance(child, (ast.FunctionDef, ast.ClassDef))
            yield from _nodes(child, (*names, child.name) if inner else names)  # type: ignore[attr-defined]


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What may take the place of the node."""
    match node:
        case ast.Compare():
            for index, op in enumerate(node.ops):
                yield _with(node, ops=[*node.ops[:index], SWAPS[type(op)](), *node.ops[index + 1 :]])
        case ast.BoolOp() | ast.BinOp() if type(node.op) in SWAPS:
            yield _with(node, op=SWAPS[type(node.op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.If() | ast.IfExp() if not isinstance(node.test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension() if node.ifs:
            yield _with(node, ifs=[])
        case ast.Return() if node.value is not None and not _is_none(node.value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case _ if isinstance(node, LEFT_OUT):
            yield ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    other = copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _head(node: ast.AST) -> str:
    """The node as text; of a statement with others in it, its first line."""
    return next(chain(ast.unparse(node).strip().splitlines(), [""])).removesuffix(":")
