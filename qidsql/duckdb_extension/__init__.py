"""qidsql in a DuckDB shell: `LOAD qidsql`, and its audits are table functions there.

`stub.c` is what DuckDB loads. It finds or starts Python and calls `entry.load`, which registers the functions of
`functions.py`; they speak to DuckDB through `capi.py`. The rest installs it: `build`, `install`, `doctor`, `signing`.
"""
