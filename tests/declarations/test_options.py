"""One declaration of an option makes its parameter, its words and its forms."""

import inspect
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import pytest

from qidsql.declarations.options import Form, Names, Option, Ratio, parameters, python_function
from qidsql.errors import UnknownName


@dataclass(frozen=True)
class Request:
    """Asks for something."""

    table: Annotated[str | None, Option("the table", argument=True)] = None
    _: KW_ONLY
    columns: Annotated[Names, Option("a column", flags=("-c", "--column"))] = ()
    most_rows: Annotated[int, Option("as many rows")] = 7
    ratio: Annotated[Ratio, Option("a ratio")] = None
    inner: int = 0  # no option


def test_the_fields_with_an_option_are_the_parameters() -> None:
    found = {each.name: each for each in parameters(Request)}
    assert list(found) == ["table", "columns", "most_rows", "ratio"]
    assert [each.default for each in found.values()] == [None, (), 7, None]
    assert found["most_rows"].flags == ("--most-rows",)
    assert found["columns"].flags == ("-c", "--column")
    assert [each.shown for each in found.values()] == ["table", "--column", "--most-rows", "--ratio"]
    assert found["columns"].form == Form(list[str], "VARCHAR[]")
    assert found["ratio"].form == Form(str, "VARCHAR")  # a ratio arrives as it was typed
    assert found["table"].form == Form(str, "VARCHAR")


def test_an_option_of_a_type_without_a_form_is_an_error() -> None:
    @dataclass(frozen=True)
    class Odd:
        when: Annotated[complex, Option("a number")] = 0j

    with pytest.raises(TypeError, match="complex"):
        parameters(Odd)


def test_the_python_function_takes_the_fields_and_shows_their_words() -> None:
    def work(source: object, request: Request) -> tuple[object, Request]:
        """Does the work."""
        return source, request

    function = python_function(Request, work, "working")
    assert function("here", "people", most_rows=3) == ("here", Request("people", most_rows=3))
    with pytest.raises(UnknownName, match=r"did you mean most_rows\?"):
        function("here", rows=3)  # type: ignore[call-arg]
    names = list(inspect.signature(function).parameters)
    assert names == ["source", "table", "columns", "most_rows", "ratio"]  # inner is no option
    assert inspect.getdoc(function).startswith("Asks for something.")  # type: ignore[union-attr]
    assert "most_rows: as many rows" in inspect.getdoc(function)  # type: ignore[operator]
