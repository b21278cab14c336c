"""The base class of engines: what the author of one implements, and what tables are for all of them.

An engine's own module opens the sessions, reads the catalog and translates errors. This one imports no driver.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from qidsql.core.results import Examination
from qidsql.core.tables import Catalog, CatalogTable, Condition, Table, TableName
from qidsql.engines.condition import asks_zone, in_zone
from qidsql.engines.private_folder import PrivateFolder, in_memory
from qidsql.engines.runner import Runner
from qidsql.errors import UsageError
from qidsql.sql.relation import making, table_node
from qidsql.sql.templates import Statement


class Engine(Runner):
    """A live source. Close it, or use it in a `with` block. `snapshot` describes the state that its sessions see.

    The author of an engine implements what is abstract here and in `Runner` (sessions and errors), and those of the
    other methods whose default does not suit.
    """

    export_format: str  # the file extension of exports
    version: str  # the engine's name and version
    snapshot: str  # a description of the state of the data that statements see
    role = ""  # who reads, where the engine has roles
    warning = ""  # on how the source is connected
    time_zone = ""  # the one in which the session reads times, where it has one
    workspace = False  # whether `make_working_copy` is allowed
    writable = False  # one session in one transaction, which is rolled back without `commit`
    writes_files = False  # a protected copy of its tables can be a file of this machine
    copied_instead = "a copy of its tables is a table there"  # where it writes none
    data_files: Sequence[Path] = ()  # the files read, if the source is files
    label_beside = ""  # the second source, for messages, if there is one
    read_with = ""  # the options behind the label that decide how files are read
    options_in_path = False  # text after a ? in the source is options, none of them secret
    labelled = False  # its catalog has comments, labels or keys
    # The time when the source began to be opened: files that are newer may have been read before.
    opening = float("inf")
    latency = 0.0  # seconds of an empty statement, measured when connecting; 0: in this process, or on this machine

    def __init__(self, workers: int, folder: PrivateFolder | None = None) -> None:
        super().__init__(workers)
        self._folder = folder  # for exports and spilled intermediate results; None: the first export creates it
        self._working_copy: TableName | None = None

    # implemented by each engine

    @abstractmethod
    def table_names(self) -> list[TableName]:
        """All tables and views that can be audited."""

    @abstractmethod
    def describe(self, table: str | None) -> Table:
        """The table that the user's text names, as the catalog describes it; None stands for the only table.

        Raises UnknownName, UsageError, AccessError.
        """

    @abstractmethod
    def parse_condition(self, table: Table, where: str) -> Condition:
        """Checks a condition on the table's rows: see `narrowed`. Reads only the catalog."""

    @abstractmethod
    def catalog(self, schema: str | None = None) -> Catalog:
        """All tables and views of the source or of one schema, with their keys, comments and labels.

        Reads only the system catalog, with the same few statements for any number of tables. Includes tables that this
        user may not read, with the obstacle. Raises UnknownName, StatementError, AccessError.
        """

    @abstractmethod
    def examine(self, schema: str | None = None, role: str | None = None) -> Examination:
        """Checks everything besides the tables that affects an audit: the session, its limits, its role's privileges.

        Also lists the grants that the session's role lacks, or all grants that `role` would need. Reads only the
        system catalog. Raises StatementError, UsageError (a role, if the engine has none).
        """

    @abstractmethod
    def import_file(self, path: Path, columns: Mapping[str, str]) -> exp.Expr:
        """Makes an exported file with these columns (name: type) available; returns the node to select from.

        For engines opened for writing. Raises Stopped, StatementError, AccessError.
        """

    @abstractmethod
    def existing_kind(self, name: TableName, replace: bool) -> str | None:
        """The kind of the existing object with this name, such as "table" or "view"; None if the name is free.

        Reads only the system catalog. Raises UsageError if no table can be created there, AccessError if this role may
        not create it, or may not drop the object it is to `replace`.
        """

    @abstractmethod
    def working_copy_name(self) -> TableName:
        """A name for a working copy, in the engine's own temporary space. Raises AccessError."""

    @abstractmethod
    def finish_working_copy(self, name: TableName) -> int:
        """Prepares a new working copy for queries, ends writing, returns its size in bytes. Raises StatementError."""

    # implemented where the default does not suit

    @property
    def memory_limit(self) -> int | None:
        """How many bytes of this process's memory the engine may use; None if it runs in another process."""
        return None

    @property
    def little_room(self) -> bool:
        """Whether classes may fit neither into the memory nor where they are spilled: then rows are counted first."""
        return False

    def parts(self, classes: int, columns: int, failures: int = 0) -> int:
        """Into how many parts so many classes of so many columns have to be divided to be counted, after so many
        `failures` to do so (OutOfRoom)."""
        return 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """Facts about the work so far that a reader of the result may need."""
        return ()

    def doubts(self, table: Table, rows: int) -> tuple[str, ...]:
        """Why the number of rows that was counted may not be all that the table has."""
        return ()

    def expect(self, rows: int) -> None:
        """Takes note of how many rows the next statements read. It changes no answer, only how fast it comes."""

    def describe_beside(self, table: str | None) -> Table:
        """The named table of the second source (`beside` of `connect`). Its tables are in `catalog` too.

        Raises as `describe`, and UsageError if the engine was opened without a second source.
        """
        raise UsageError(
            f"{self.label} was opened without a second source; name the source, so that both are opened together, or a "
            f"table of it"
        )

    def describe_listed(self, listed: CatalogTable) -> Table:
        """The description of a table of this engine's catalog; facts already in the catalog are not queried again.

        Raises UsageError, AccessError.
        """
        return self.describe(table_node(listed.name).sql(self.dialect.name))

    def listed(self, name: TableName) -> CatalogTable:
        """A table as `catalog` has it, also one that is not in it, as a file of a server. Raises as `catalog`."""
        return next(table for table in self.catalog().tables if table.name == name)

    def state_token(self, table: Table) -> str | None:
        """A text that changes whenever anything changes that an answer about the table reads, rows, settings and role
        included: with an equal token, earlier results remain valid.

        None if the source cannot guarantee that for each part of the table. Sends no statement to a table.
        """
        return None

    def file_hash(self, table: Table, key: bytes) -> str | None:
        """A hash with a key of all bytes that decide about the rows of the table: equal ones are the same table.

        None if it is not read from files alone, or these are large beside it. Sends no statement. Raises BudgetSpent.
        """
        return None

    def sees_one_state(self, table: Table) -> bool:
        """Whether all statements of an answer see the table in one state, each part of it."""
        return False

    # the same for all engines

    def exports(self) -> Path:
        """A private folder for files that statements export (`into`); removed when the engine is closed."""
        self._folder = self._folder or PrivateFolder()
        return self._folder.exports

    @contextmanager
    def temporary_export(self, name: str) -> Iterator[Path]:
        """A path for an export that is read within the block: kept in memory if the system supports that."""
        with in_memory(self.exports() / f"{name}.{self.export_format}") as path:
            yield path

    def narrowed(self, table: Table, where: str | None) -> Table:
        """The table, limited to the rows that meet a condition; all rows if it is None.

        The condition is the user's own SQL, in the engine's dialect. It must be one expression whose value depends only
        on the row and the time: no subquery, aggregate, window or parameter, no hidden column, and only built-in
        functions and operators that change nothing and do not depend on the session. The engine has bound it to the
        table when this returns; a repeated call sends no statement. If the condition depends on the time, all further
        statements run on one session, as they do on a view that uses the current time.
        Raises UsageError, UnknownName, AccessError, StatementError.
        """
        if table.time_dependent and self.dialect.snapshot:
            self._freeze_time()
        elif table.time_dependent:
            note = "each statement reads the current time anew: figures of two statements can differ"
            table = replace(table, notes=(*table.notes, note))
        if where is None:
            return table
        key = (table.name, where)
        if key not in self._conditions:
            self._conditions[key] = self.parse_condition(table, where)
        condition = self._conditions[key]
        notes = table.notes + condition.notes
        if condition.time_dependent:
            self._freeze_time()
            notes += ("the rows depend on the time of the audit: the where condition uses the current time",)
        if self.time_zone and asks_zone(table, where):
            notes += (in_zone("the rows of the where condition", self.time_zone),)
        return replace(table, condition=condition, notes=notes)

    def pretty(self, statement: str) -> str:
        """A statement formatted over several lines."""
        return self.dialect.pretty(statement, [text for _, text in self._conditions])

    def renew(self) -> bool:
        """Lets the next answer read the current state of the data; returns False if that needs a new connection.

        That is so after a statement that failed or was cancelled, with a fixed time, and with a working copy.
        """
        if self._closed or self._one_transaction or self._working_copy or len(self._sessions) < self.workers:
            return False
        self._conditions.clear()
        self._table_bytes.clear()
        return self._renew_sessions()

    def make_working_copy(self, query: exp.Query, purpose: str, deadline: float | None = None) -> tuple[TableName, int]:
        """Stores the rows of a query as a table in the engine's temporary space; returns its name and size in bytes.

        All sessions see it until the engine is closed. Once per engine, which must be opened with `workspace`.
        One statement. Raises Stopped, StatementError, AccessError, UsageError.
        """
        if not self.workspace or self._working_copy is not None:
            raise UsageError(
                "a working copy needs a connection with workspace, and can be made only once per connection"
            )
        name = self.working_copy_name()
        self._working_copy = name
        made = making(table_node(name), exp.select("*").from_(query.subquery("rows_of_copy")))
        self.run(Statement(self.dialect.render(made), purpose, lambda rows: None), deadline)
        return name, self.finish_working_copy(name)

    def commit(self) -> None:
        """Commits all writes and closes the engine. Raises Stopped, StatementError."""
        self.run(Statement(self.dialect.render(exp.Commit()), "commit", lambda rows: None))
        self.close()

    def close(self) -> None:
        super().close()
        if self._folder is not None and not self._forked:
            self._folder.remove()
