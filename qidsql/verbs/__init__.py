"""One file per command of the command line: from an engine and a policy to a frozen result."""
