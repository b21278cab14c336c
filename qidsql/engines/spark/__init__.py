"""Spark Connect servers: Apache Spark, Sail, and whatever else speaks the protocol."""
