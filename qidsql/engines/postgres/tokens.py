"""Splits a text into tokens as Postgres' scanner does, with standard_conforming_strings on.

[PostgreSQL manual, 4.1: Lexical Structure; src/backend/parser/scan.l]
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_LETTER = r"A-Za-z_\u0080-\U0010ffff"
_TOKEN = re.compile(
    rf"""
    (?P<space> [ \t\n\r\f\v]+ | --[^\n\r]* )
    | (?P<comment> /\* )
    | (?P<escaped> [uU]&["'] )
    | (?P<string> [eE]'(?:[^'\\]|''|\\.)*' | [bBxXnN]?'(?:[^']|'')*' )
    | (?P<tag> \$(?:[{_LETTER}][{_LETTER}0-9]*)?\$ )
    | (?P<parameter> \$\d+ )
    | (?P<quoted> "(?:[^"]|"")+" )
    | (?P<name> (?![eEbBxXnN]')[{_LETTER}][{_LETTER}0-9$]* )
    | (?P<number> \d+(?:\.\d*)?(?:[eE][-+]?\d+)? )
    | (?P<sign> [^{_LETTER}0-9'"\0] )
    """,
    re.VERBOSE | re.DOTALL,
)


class TokenKind(StrEnum):
    NAME = "name"  # a name or keyword without quotes, in lower case as Postgres reads it
    QUOTED = "quoted"  # a quoted name, without the quotes
    STRING = "string"
    PARAMETER = "parameter"
    NUMBER = "number"
    SIGN = "sign"  # one character of an operator, or a bracket


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str

    @property
    def is_name(self) -> bool:
        return self.kind in (TokenKind.NAME, TokenKind.QUOTED)


def tokens(text: str) -> list[Token]:
    """The tokens of the text without comments. Raises ValueError if a token or comment does not end.

    Unicode escapes (U&'', U&"") are refused too: their meaning depends on a clause that follows.
    """
    found: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup == "escaped":
            raise ValueError("unterminated or unsupported token")
        kind, piece, place = str(match.lastgroup), match[0], match.end()
        if kind == "comment":
            place = _end_of_comment(text, place)
        elif kind == "tag":
            place = text.index(piece, place) + len(piece)
            found.append(Token(TokenKind.STRING, text[match.start() : place]))
        elif kind == "quoted":
            found.append(Token(TokenKind.QUOTED, piece[1:-1].replace('""', '"')))
        elif kind == "string" and found and found[-1].text.startswith(("E'", "e'")):
            raise ValueError("a continued string, in which a backslash escapes as in the first part")
        elif kind != "space":
            found.append(
                Token(TokenKind(kind), re.sub("[A-Z]+", lambda m: m[0].lower(), piece) if kind == "name" else piece)
            )
    return found


def _end_of_comment(text: str, place: int) -> int:
    """The end of a comment that starts before `place`; comments nest. Raises ValueError."""
    depth = 1
    for mark in re.finditer(r"/\*|\*/", text[place:]):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return place + mark.end()
    raise ValueError("a comment does not end")
