"""The pieces that reports at a terminal are made of."""
