"""What is disclosed about a sensitive column, in results."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.declarations.results import FLAT, Rounded, reported
from qidsql.measures.disclosure import Disclosure

SHARE = Rounded(6)


@dataclass(frozen=True, kw_only=True)
class Disclosed:
    """What whoever knows some columns of a table learns about a sensitive one."""

    sensitive: str
    known: Annotated[tuple[str, ...], "the audited columns, or these and the other sensitive columns"]
    figures: Annotated[Disclosure, FLAT]

    @reported
    def share_revealed(self) -> Annotated[float, "of the rows, those in classes of a single value", SHARE]:
        return float(self.figures.share_revealed)

    @reported
    def guess_before(self) -> Annotated[float | None, "guessed right by naming the table's commonest value", SHARE]:
        return _float(self.figures.guess_before)

    @reported
    def guess_after(self) -> Annotated[float | None, "guessed right by naming each class's commonest value", SHARE]:
        return _float(self.figures.guess_after)

    @reported
    def guess_in_large(self) -> Annotated[float | None, "guess_after among the rows in classes of k or more", SHARE]:
        return _float(self.figures.guess_in_large)


def _float(share: object) -> float | None:
    return None if share is None else float(share)  # type: ignore[arg-type]
