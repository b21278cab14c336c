"""Text for HTML and XML."""

import re


def without_controls(text: str) -> str:
    """The text with characters that XML and HTML do not allow replaced by U+FFFD."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
