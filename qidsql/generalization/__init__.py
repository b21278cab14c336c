"""Coarser values: hierarchies of the values of columns, and the search for levels that reach k."""
