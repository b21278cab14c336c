"""The order in which the released rows lie: whether rows of the same values stand together."""

from qidsql.commands.release.command import LineState, Measured
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import StatementError, Stopped
from qidsql.sql.releases import alike_neighbours
from qidsql.wording.texts import count, plural

UNKNOWN = "the order in which the rows of {} leave is not known"


def random_order(engine: Engine, table: Table) -> Measured:
    """Whether neighbours are alike more often than in a random order, in any column, by three deviations; that an order
    is random, only a person can say. One statement for each column, which scans it once or twice.
    """
    if not engine.data_files and not table.row_address:
        return Measured(LineState.NOT_EXAMINED, UNKNOWN.format(table.name))
    if len(engine.data_files) > 1:
        return Measured(LineState.NOT_EXAMINED, "the release is of several files")
    columns = [each for each in table.columns if each.readable]
    try:
        found = engine.run_many([alike_neighbours(engine.dialect, table, each) for each in columns])
    except (Stopped, StatementError) as error:
        return Measured(LineState.NOT_EXAMINED, f"not counted to the end: {error}")
    for column, each in zip(columns, found, strict=True):
        if not each.by_chance:
            alike = f"{plural(each.alike, 'row')} of {count(each.rows)} like the row before"
            text = f"{column.name}: {alike}, {count(round(each.chance))} by chance: are the rows sorted?"
            return Measured(LineState.NOT_EXAMINED, text)
    return Measured(LineState.PERSON, f"neighbours are no more alike than by chance in {plural(len(found), 'column')}")
