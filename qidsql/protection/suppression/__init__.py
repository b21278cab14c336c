"""Local suppression: the lightest cells to blank per record [Wilson, 3]."""
