"""Run documents for everybody else: people who sign, pull requests, CI, monitoring. A document is plain data."""
