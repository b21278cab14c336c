"""Commands that print a table, peer and qidsql in one run. Not part of the tests: run them and read them."""
