"""Text that pages and XML can hold."""

import re


def without_controls(text: str) -> str:
    """The text without characters that XML and pages cannot hold; U+FFFD stands in their place."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
