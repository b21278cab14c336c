"""Local suppression: the lightest cells to suppress per record [Wilson, 3]."""
