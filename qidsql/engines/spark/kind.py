"""How a Spark Connect server is recognized, described and opened."""

import importlib.util
from typing import TYPE_CHECKING

from qidsql.engines.kind import ConnectOptions, ServerKind
from qidsql.errors import SourceError

if TYPE_CHECKING:
    from qidsql.engines.base import Engine
    from qidsql.engines.store import Store
    from qidsql.sql.dialects import Dialect

NEEDS = ("grpc", "google.protobuf", "pyarrow")


class SparkKind(ServerKind):
    schemes = ("sc",)
    sources = "a Spark Connect URL (sc://host:15002)"
    has_files = True
    url = "a Spark Connect URL"

    @property
    def dialect(self) -> "Dialect":
        from qidsql.engines.spark.dialect import SPARK

        return SPARK

    def open(self, text: str, options: ConnectOptions) -> "Engine":
        if not all(map(_installed, NEEDS)):
            raise SourceError("Spark Connect needs a few packages more; run: pip install 'qidsql[spark]'")
        from qidsql.engines.spark.engine import connect

        return connect(text, options)

    def shown(self, text: str) -> str:
        from qidsql.engines.spark.address import address

        try:
            return address(text).label
        except SourceError:
            return "a Spark URL that cannot be read"

    def store(self, text: str, schema: str, patience: float) -> "Store":
        raise NotImplementedError("a Spark server keeps no history")


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package that the module is in
        return False
