"""Column sets in, class profiles out: of tables, samples, pairs of rows and coded copies."""
