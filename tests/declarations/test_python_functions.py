"""The Python functions: their help, and errors in the words of Python."""

import inspect
import pydoc
import re
import warnings

import pandas
import polars
import pytest

import qidsql
from qidsql.errors import UsageError

TABLE = {"a": [1, 2] * 9, "b": ["x"] * 18}


def test_help_lists_the_functions_and_explains_no_internals() -> None:
    listed = pydoc.render_doc(qidsql, renderer=pydoc.plaintext)
    for name in ("audit", "protect", "verify"):
        assert f"    {name}(source" in listed
    for name in (each for each in dir(qidsql) if inspect.isfunction(getattr(qidsql, each))):
        text = inspect.getdoc(getattr(qidsql, name)) or ""
        assert "on_stage" not in text and "request." not in text and not re.search("--(?!output|format)", text), name


def test_errors_name_parameters_instead_of_options() -> None:
    with pytest.raises(UsageError, match="rows_below_k must be above 0"):
        qidsql.risk(pandas.DataFrame(TABLE), population="data", rows_below_k=0)
    for given, said in (
        ({"on": "a=a"}, "on is not an option here, but of population"),
        ({"population": "data", "weight": "a"}, "weight is not an option here, but of calls without population"),
    ):
        with pytest.raises(UsageError, match=said):
            qidsql.risk(pandas.DataFrame(TABLE), **given)
    with pytest.raises(UsageError, match="recursive_l must be C,L"):
        qidsql.audit(pandas.DataFrame(TABLE), sensitive="b", recursive_l="3")


@pytest.mark.parametrize("frame", [pandas.DataFrame(TABLE), polars.DataFrame(TABLE)])
def test_a_data_frame_in_the_place_of_a_name_is_an_error_of_ours(frame: object) -> None:
    with pytest.raises(UsageError, match="protected is a DataFrame, but only the source can be a data frame"):
        qidsql.impact(frame, protected=frame)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="right is a DataFrame"):
        qidsql.link(frame, "data", frame)  # type: ignore[arg-type]


def test_a_lazy_frame_is_read_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert qidsql.audit(polars.LazyFrame(TABLE)).verdict == "pass"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("identifier", "did you mean identifiers?"),
        ("l", "did you mean l_diversity?"),
        ("max_size_", "did you mean max_size"),
    ],
)
def test_a_parameter_that_is_not_there_is_an_error_that_names_the_right_one(given: str, told: str) -> None:
    with pytest.raises(qidsql.QidsqlError, match=rf"^no parameter {given}\b.* in audit\(\)") as error:
        qidsql.audit("no.duckdb", "patients", **{given: 1})
    assert told in str(error.value)


@pytest.mark.parametrize("name", ["audit", "keys", "uniques", "protect", "risk", "graph"])
def test_a_value_of_another_type_is_refused_by_name(name: str) -> None:
    """And not by whatever first trips over it: an AttributeError that names no parameter."""
    function = getattr(qidsql, name)
    own = [each for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY]
    assert own
    for parameter in own:
        with pytest.raises(UsageError, match=rf"^{parameter.name} must be .*, not object$"):
            function("nothing.csv", **{parameter.name: object()})
