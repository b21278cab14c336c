"""Spark Connect servers: Apache Spark, Sail, and whatever else speaks the protocol."""

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # before grpc is imported, which else writes to stderr
