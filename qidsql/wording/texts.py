"""Text for terminals, HTML and XML."""

import re

# Those that XML and HTML do not allow, those that a terminal obeys, and those that turn the direction of what follows.
CONTROLS = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"


def without_controls(text: str, instead: str = "\ufffd") -> str:
    """The text with its control characters, except tabs and line breaks, replaced."""
    return re.sub(CONTROLS, instead, text)
