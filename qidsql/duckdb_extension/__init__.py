"""qidsql as a DuckDB extension: after `LOAD qidsql`, audits are table functions.

DuckDB loads `stub.c`, which finds or starts Python and calls `entry.load`. That registers the functions of
`functions.py`, which use DuckDB through `capi.py`. `build`, `install`, `doctor` and `signing` install the extension.
"""
