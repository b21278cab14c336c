"""Audits tables for k-anonymity, keys and quasi-identifiers by SQL that runs inside the database."""

__version__ = "0.1.0"
