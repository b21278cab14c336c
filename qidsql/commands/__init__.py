"""One file per command of the command line: `run` reads the options, asks the verb, writes its result.

`EXAMPLES` stands under the command's help. Nothing heavy is imported before a command
runs: `--help` must answer at once.
"""
