"""For what and to whom the audited tables are released, as declared in the policy file."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated

from qidsql.declarations.keys import DAY, FileKey

LABELS = {"purpose": "Purpose", "recipient": "Recipient", "author": "Author", "date": "Date"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """For what and to whom the tables are released, for the report; all optional."""

    purpose: Annotated[str | None, FileKey(), "for what the tables are released"] = None
    recipient: Annotated[str | None, FileKey(), "to whom"] = None
    author: Annotated[str | None, FileKey(), "who answers for this file"] = None
    date: Annotated[
        str | None, FileKey(pattern=DAY), "the day of the release or of the request, such as 2027-03-31"
    ] = None

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """What is declared, with its label."""
        return ((LABELS[each.name], value) for each in fields(self) if (value := getattr(self, each.name)))
