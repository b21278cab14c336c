"""Checklists: the lines of a law or a guidance, each with what is measured for it, read from TOML.

`check` names the function that measures a line (`qidsql.commands.release.lines`), or says that only a person can.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from qidsql.checklists.contents import THINGS
from qidsql.core.files import read_toml
from qidsql.core.options import fraction
from qidsql.declarations.results import MISMATCH, FileKey, read_keys
from qidsql.errors import UsageError

PERSON = "person"  # the check of a line that nothing can measure
CONTENTS = "contents"  # a check that needs more of a line, and those that need a limit
RISKS = ("highest", "attacked", "average", "journalist", "marketer", "households", "population uniques")
COUNTS = ("identifying columns", "sensitive columns", "people of values", "people of pairs")
LIMITED = (*RISKS, *COUNTS)
NAMED = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A line of a checklist."""

    item: Annotated[str, FileKey("the item of the text, such as F")]
    asks: Annotated[str, FileKey("what is required, in words")]
    check: Annotated[str, FileKey("what is measured; person: only a person can say")]
    of: Annotated[tuple[str, ...], FileKey("what is looked for, of checks of names and contents")] = ()
    limit: Annotated[str | None, FileKey("the greatest risk, such as 0.09; of counts, their limit")] = None
    text: Annotated[str | None, FileKey("the text that the line is from, if it is not that of the list")] = None

    @property
    def most(self) -> Fraction | None:
        """The limit as it is written, exactly. Raises UsageError."""
        return None if self.limit is None else fraction("limit", self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """A named checklist."""

    name: str
    title: Annotated[str, FileKey("the name of the text")]
    text: Annotated[str, FileKey("the text that its lines are from")]
    note: Annotated[str, FileKey("what a reader should know about it")] = ""
    lines: Annotated[tuple[Requirement, ...], FileKey("its lines")] = ()


def checklist(name: str, checks: frozenset[str], beside: Callable[[str], str] = str) -> Checklist:
    """The checklist of this name, or in a TOML file of one's own; its lines name one of these checks. `beside`: where
    the file is.

    Raises UsageError, TomlFileError.
    """
    own = name.endswith(".toml")
    if not own and name not in NAMED:
        raise UsageError(f"there is no checklist {name}; expected one of {', '.join(NAMED)}, or a .toml file")
    path = Path(beside(name)) if own else NAMED[name]
    if own and not path.is_file():
        raise UsageError(f"the checklist {name} is not here: whoever checks a release, or verifies one, needs the file")
    content = read_toml(path).content
    try:
        found = read_keys(Checklist, content, name=path.stem)
        limits = [each.most for each in found.lines]
        known = {key for each in content["lines"] for key in each} <= set(Requirement.__dataclass_fields__)
    except MISMATCH:
        known, limits = False, []
    if not known or not limits:
        raise UsageError(f"{path} is no checklist: expected title, text, and [[lines]] with item, asks and check")
    if other := [each.check for each in found.lines if each.check not in {*checks, PERSON}]:
        raise UsageError(f"{path} names a check that there is not: {other[0]}; expected {', '.join(sorted(checks))}")
    for each in found.lines:
        if each.check in LIMITED and each.most is None:
            raise UsageError(f"{path}: {each.item} needs a limit, such as 0.09")
        if each.check in COUNTS and each.most != int(each.most or 0):
            raise UsageError(f"{path}: {each.item} needs a whole number as its limit, such as 15")
        if each.check == CONTENTS and not (each.of and {*each.of} <= {*THINGS}):
            raise UsageError(f"{path}: {each.item} needs of = [...] with what is looked for: {', '.join(THINGS)}")
    return found
