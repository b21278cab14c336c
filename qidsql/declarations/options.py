"""An option is declared once, as a field of a request; every interface of qidsql is derived from these fields.

A request is a frozen dataclass. A field that users can set has an `Option` in its annotation:

    @dataclass(frozen=True)
    class ColumnsRequest:
        table: Table = None
        _: KW_ONLY
        k: K = 5
        exact: Annotated[bool, Option("prove that no choice publishes more")] = False

`parameters(ColumnsRequest)` lists them. The command line (`qidsql.cli.command`), the parameters of the table function
in DuckDB's shells (`qidsql.duckdb_extension`) and the keys of a policy file (`qidsql.operations`) are derived from this
list. `python_function` makes the Python function: type checkers see the fields as its parameters, `help` shows their
help texts. The request checks the values in `__post_init__`, wherever they come from.
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, get_type_hints, overload

from qidsql.declarations.annotations import declared_fields, present
from qidsql.errors import UnknownName, UsageError

Names: TypeAlias = Iterable[str] | str  # one name or several
Ratio: TypeAlias = str | float | Fraction | None  # 0.9, 9/10 or 90%; a float means the decimal that it prints as
Size: TypeAlias = str | int | None  # of bytes: 10GB
FileName: TypeAlias = str | Path | None
Paths: TypeAlias = tuple[Path, ...]  # several files
Weights: TypeAlias = str | Path | Mapping[str, int] | None  # a=3,b=1, a .toml file, or the numbers by column

SOURCE = "a SOURCE as on the command line, a data frame of pandas or polars or an Arrow table, or an open engine"

P = ParamSpec("P")
Q = ParamSpec("Q")
Engine = TypeVar("Engine", contravariant=True)
Request = TypeVar("Request")
Result = TypeVar("Result", covariant=True)
Other = TypeVar("Other", covariant=True)


@dataclass(frozen=True, slots=True)
class Form:
    """The type of an option on the command line, in SQL (a type of DuckDB), and those in Python, in words too."""

    command_line: Any
    sql: str
    python: tuple[type, ...] = field(default=(object,), compare=False)
    said: str = field(default="", compare=False)

    def check(self, name: str, value: object) -> None:
        """Raises UsageError for a value of another type; None is whatever the request takes it for."""
        fits = isinstance(value, self.python) and (not isinstance(value, bool) or {bool, object} & {*self.python})
        if self.sql == "VARCHAR[]" and isinstance(value, Collection):
            fits = fits and all(isinstance(each, NAMED) for each in value)
        if value is not None and not fits:
            raise UsageError(f"{name} must be {self.said}, not {type(value).__name__}")


TEXT = (str,)
NAMED = (str, Path)
FORMS: dict[Any, Form] = {
    Names: Form(list[str], "VARCHAR[]", (str, Iterable), "a name or a list of names"),
    Ratio: Form(str, "VARCHAR", (str, Real, Decimal), "a number, or a text such as 9/10 or 90%"),  # 0.9 as it is typed
    Size: Form(str, "VARCHAR", (str, Integral), "a number of bytes, or a text such as 10GB"),
    FileName: Form(Path, "VARCHAR", NAMED, "the name of a file"),
    Weights: Form(str, "VARCHAR", (*NAMED, Mapping), "a text such as a=3,b=1, a .toml file or a dict"),
    Paths: Form(list[Path], "VARCHAR[]", (*NAMED, Iterable), "names of files"),
    bool: Form(bool, "BOOLEAN", (bool,), "True or False"),
    float: Form(float, "DOUBLE", (Real, Decimal), "a number"),
    int: Form(int, "BIGINT", (Integral,), "a whole number, such as 5"),
    Path: Form(Path, "VARCHAR", NAMED, "the name of a file"),
    str: Form(str, "VARCHAR", TEXT, "a text"),
    NoneType: Form(str, "VARCHAR"),  # once given, it makes another request
}


@dataclass(frozen=True, slots=True)
class Option:
    """The properties of an option.

    `flags` are its names on the command line, by default `--name-of-the-field`; an `argument` is positional and has
    none, and a limit that is asked for `by_require` is a value of --require there: `--require alpha=0.5`. `panel` is
    its heading in `--help`. `variable` is an environment variable that sets the option by default. `least` and `most`
    bound a number on the command line. `values` are what shells complete it by.
    """

    help: str
    metavar: str = ""
    flags: tuple[str, ...] = ()
    panel: str = "Options"
    argument: bool = False
    by_require: bool = False
    variable: str = ""
    least: float | None = None
    most: float | None = None
    values: tuple[str, ...] = ()
    in_shells: bool = True  # a parameter of the table function
    in_policies: bool = False  # a key of a policy file


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of a request. `default` is `inspect.Parameter.empty` if the option is required."""

    name: str
    form: Form
    default: Any
    option: Option

    @property
    def flags(self) -> tuple[str, ...]:
        if self.option.flags:
            return self.option.flags
        name = self.name.replace("_", "-")
        if self.option.by_require:
            return (f"--require {name}",)
        return (*((f"-{name}",) if len(name) == 1 else ()), f"--{name}")

    @property
    def shown(self) -> str:
        """The name of the option in messages: --max-size."""
        return self.name if self.option.argument else self.flags[-1].partition("/")[0]


@cache
def parameters(request: type) -> tuple[Parameter, ...]:
    """The fields of a request that have an `Option`, in order. Raises TypeError for a type without a `Form`."""
    found = []
    for name, (own, declared) in declared_fields(request).items():
        option = declared.mark(Option) if own.init else None
        if option is not None:
            default = inspect.Parameter.empty if own.default is MISSING else own.default
            found.append(Parameter(name, _form(declared.kind), default, option))
    return tuple(found)


def _form(kind: Any) -> Form:
    if kind in FORMS:
        return FORMS[kind]
    kind = present(kind)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return Form(kind, "VARCHAR", TEXT, f"one of {', '.join(kind)}")
    if kind not in FORMS:
        raise TypeError(f"options cannot have the type {kind}")
    return FORMS[kind]


def with_given(request: Callable[P, Request], names: Iterable[str], *args: P.args, **kwargs: P.kwargs) -> Request:
    """The request. One that a policy file can complete gets the names of the options that the user gave."""
    if "awaits_policy" in inspect.signature(request).parameters:
        kwargs = {**kwargs, "given": frozenset(names), "awaits_policy": True}  # type: ignore[assignment]
    return request(*args, **kwargs)


class PythonFunction(Protocol[P, Engine, Result]):
    """The Python function of a command: takes a source or an engine, and the fields of the request."""

    def __call__(self, source: Engine = ..., /, *args: P.args, **kwargs: P.kwargs) -> Result: ...


def python_function(
    request: Callable[P, Request], work: Callable[[Engine, Request], Result], name: str
) -> PythonFunction[P, Engine, Result]:
    """A function with the fields of the request as parameters; it makes the request and does the work.

    Its help is that of the request, and its errors name options as parameters: max_size instead of --max-size.
    """
    signature = inspect.signature(request)
    options = (each for each in parameters(request) if not each.option.argument)
    names = {flag: each.name for each in options for flag in each.flags}
    forms = {each.name: each.form for each in parameters(request)}

    def function(source: Any = None, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        for parameter in kwargs:
            if parameter not in signature.parameters:
                called = names.get(f"--{parameter.replace('_', '-')}")  # as the option, but in the plural
                raise UnknownName("parameter", [parameter], f"{name}()", [called] if called else public)
        given = signature.bind(*args, **kwargs).arguments
        for parameter, value in given.items():
            if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__"):
                raise UsageError(
                    f"{parameter} is a {type(value).__name__}, but only the source can be a data frame: write tables "
                    f"that belong together to files of one folder, which is a source, and name them"
                )
            if parameter in forms:
                forms[parameter].check(parameter, value)
        try:
            return work(source, with_given(request, (*given,), *args, **kwargs))
        except UsageError as error:
            error.args = (_as_parameters(str(error), names), *error.args[1:])
            raise

    kinds = get_type_hints(request)
    public = {each.name for each in parameters(request)}
    own = [
        each.replace(annotation=kinds[each.name], default=_plain(each.default))
        for each in inspect.signature(request).parameters.values()
        if each.name in public
    ]
    needed = any(each.kind is not each.KEYWORD_ONLY and each.default is each.empty for each in own)
    default = inspect.Parameter.empty if needed else None
    source = inspect.Parameter("source", inspect.Parameter.POSITIONAL_ONLY, default=default)
    helps = {each.name: each.option.help.replace("(repeat)", "(one or several)") for each in parameters(request)}
    words = [f"source: {SOURCE}", *(f"{each.name}: {helps[each.name]}" for each in own)]
    function.__name__ = function.__qualname__ = name
    function.__signature__ = inspect.Signature([source, *own])  # type: ignore[attr-defined]
    said = f"{inspect.getdoc(request)}\n\nReturns the result; raises errors of the type qidsql.QidsqlError."
    function.__doc__ = _as_parameters("\n".join([said, "", *words]), names)
    return function


def with_ways(
    plain: Callable[..., Any], ways: Mapping[str, Callable[..., Any]], chosen_by: str = "by"
) -> Callable[..., Any]:
    """A Python function of which a parameter chooses a way, each with parameters of its own; those of `plain` if none.

    The parameter's value is the way, or the way has the parameter's name. The help says the parameters of every way.
    """

    taken = {way: inspect.signature(each).parameters for way, each in ways.items()} | {
        None: inspect.signature(plain).parameters
    }
    named: dict[str | None, str] = {way: chosen_by if way == chosen_by else f"{chosen_by}={str(way)!r}" for way in ways}

    def function(source: Any = None, /, *args: Any, **options: Any) -> Any:
        given = options.get(chosen_by)
        way = None if given is None else chosen_by if chosen_by in ways else str(given)
        way = way if way in ways else None
        for name in options:
            if name not in taken[way]:
                without = f"calls without {named.get(way)}"
                if having := [named.get(each, without) for each in taken if name in taken[each]]:
                    raise UsageError(f"{name} is not an option here, but of {' and '.join(having)}")
        return (ways[way] if way else plain)(source, *args, **options)

    function.__name__ = function.__qualname__ = plain.__name__
    own = inspect.signature(plain)
    more = inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)
    function.__signature__ = own.replace(parameters=[*own.parameters.values(), more])  # type: ignore[attr-defined]
    described = (f"With {named[way]}: {inspect.getdoc(each)}" for way, each in ways.items())
    function.__doc__ = "\n\n".join((inspect.getdoc(plain) or "", *described))
    return function


class EitherFunction(Protocol[P, Q, Engine, Result, Other]):
    """A Python function that takes the fields of one request or of another."""

    @overload
    def __call__(self, source: Engine = ..., /, *args: P.args, **kwargs: P.kwargs) -> Result: ...

    @overload
    def __call__(self, source: Engine = ..., /, *args: Q.args, **kwargs: Q.kwargs) -> Other: ...


def with_option(
    plain: PythonFunction[P, Engine, Result], name: str, other: PythonFunction[Q, Engine, Other]
) -> EitherFunction[P, Q, Engine, Result, Other]:
    """A Python function with a parameter that, once given, makes another request; its help says those of both."""
    return with_ways(plain, {name: other}, chosen_by=name)


def _as_parameters(text: str, names: Mapping[str, str]) -> str:
    """The text with the options of a command line as parameters: --max-size 3 as max_size=3."""

    def parameter(found: re.Match[str]) -> str:
        name = names.get(found[1])
        return found[0] if name is None else f"{name}=" if found[2] else name

    by_require = "|".join(re.escape(each) for each in names if each.startswith("--require "))
    return re.sub(rf"({by_require or '(?!)'}|--[a-z](?:[a-z-]*[a-z])?)( (?=[A-Z0-9]))?", parameter, text)


def _plain(default: Any) -> Any:
    """A default as `help` shows it: a choice by its text."""
    return str(default) if isinstance(default, StrEnum) else default


# The declaration of a command: its request, and its properties on the command line.
#
# The command NAME is a folder `qidsql/commands/NAME/` with
#
#     command.py   the request, which checks its values, COMMAND, a `Command`, and the result
#                  (in result.py where it needs what --help should not wait for)
#     NAME.py      `NAME(engine, request, on_stage)`: does the work and returns a result
#                  (and `planned_statements(engine, request)`, if more than the first statement is known in advance)
#     report.py    `report(console, result)`: prints the result at a terminal;
#                  `opening(result)`: the sentence that its page begins with, for people who sign
#
# and an entry in the list of commands (`qidsql.cli.app`). A command with `ways` has such a folder for each within its
# own (`qidsql/commands/protect/cells/`): `protect --by cells` is the command protect.cells, with options of its own,
# and `risk --population PEOPLE` is risk.population.


@dataclass(frozen=True, slots=True)
class Command:
    """A request with the properties of its command. The docstring of the request is the help text.

    `formats` are the formats of its report, the first one being the default; those that no other command has are in the
    folder's `formats.py`. `documents`: its result can also be a run document, with the formats of
    `qidsql.formats`.
    """

    request: type
    examples: tuple[str, ...]
    exit_codes: str
    formats: tuple[str, ...] = ("terminal", "json", "html", "markdown")
    documents: bool = False
    opens: bool = False  # the work takes the source (`qidsql.engines.connect`) and opens it itself
    of_policy: bool = False  # without a source, what [release] of the policy file names
    source_last: bool = False  # the command's own argument comes before the source
    without: tuple[str, ...] = ()  # common options that this command does not have
    left_out: tuple[str, ...] = ()  # options of the request that only another way has
    ways: tuple[str, ...] = ()  # with a request of their own, each in a folder within this one
    chosen_by: str = "by"  # the option whose value is the way, or which chooses the way of its name by being given
    plain: Mapping[str, "Command"] = field(default_factory=dict)  # other values of it: what their --help lists
    about: str = ""  # their help text
    shown: str = ""  # the options that --help lists, 15 at most; the others are under --help-all; none: all

    @property
    def listed(self) -> tuple[str, ...]:
        """The options that --help lists, in their order."""
        return tuple(self.shown.split())
