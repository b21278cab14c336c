"""Column sets in, class profiles out: for tables, samples, pairs of rows and coded copies."""
