"""What a scan counts, on 200,000 made values of each kind, against an oracle: python-stdnum where it has the number."""

import ipaddress
import random
import string
from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests.checklists.test_contents import account, counted, drawn_address

pytestmark = pytest.mark.exhaustive
stdnum = pytest.importorskip("stdnum")
from stdnum import luhn, mac  # type: ignore[import-not-found]  # noqa: E402
from stdnum.iso7064 import mod_97_10  # type: ignore[import-not-found]  # noqa: E402

NUMBER = 200_000
HEX, ALNUM = "0123456789abcdefABCDEF", string.ascii_letters + string.digits
SPARSE = {36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893}
Made: TypeAlias = Callable[[random.Random], str]
KINDS: dict[str, tuple[str, Made, Callable[[str], bool]]] = {}  # of each: the count, a made value, the oracle


def kind(count: str, made: Made) -> Callable[[Callable[[str], bool]], Callable[[str], bool]]:
    def named(oracle: Callable[[str], bool]) -> Callable[[str], bool]:
        KINDS[oracle.__name__] = count, made, oracle
        return oracle

    return named


def some(draw: random.Random, signs: str, least: int, most: int) -> str:
    return "".join(draw.choices(signs, k=draw.randint(least, most)))


def edited(draw: random.Random, text: str, signs: str) -> str:
    """The text, often with a sign changed, taken away or added."""
    place, change = draw.randrange(len(text)), draw.randrange(6)
    sign = draw.choice(signs)
    return {
        0: text[:place] + sign + text[place + 1 :],
        1: text[:place] + text[place + 1 :],
        2: text[:place] + sign + text[place:],
    }.get(change, text)


@kind("cards", lambda draw: some(draw, string.digits, 12, 20))
def card(text: str) -> bool:
    return 13 <= len(text) <= 19 and bool(luhn.is_valid(text))


@kind("ibans", lambda draw: edited(draw, account(draw), string.digits + string.ascii_uppercase))
def iban(text: str) -> bool:
    form = 15 <= len(text) <= 34 and text[:2].isalpha() and text[2:4].isdigit()
    return form and bool(mod_97_10.is_valid(text[4:] + text[:4]))


@kind("ips", drawn_address)
def ip(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def made_device(draw: random.Random) -> str:
    sign = draw.choice(":-")
    return edited(draw, sign.join(some(draw, HEX, 2, 2) for _ in range(draw.choice((5, 6, 6, 6, 7)))), HEX + ":-.")


@kind("devices", made_device)
def device(text: str) -> bool:
    return (
        len(text) == 17
        and all(text[place] in ":-" for place in range(2, 17, 3))
        and bool(mac.is_valid(text, validate_manufacturer=False))
    )


@kind("vins", lambda draw: some(draw, draw.choice((ALNUM, string.digits, "ABCDEFGHJKLMNPRSTUVWXYZ0123456789")), 16, 18))
def vin(text: str) -> bool:
    allowed = len(text) == 17 and not set(text.upper()) & set("IOQ")
    return allowed and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def made_hash(draw: random.Random) -> str:
    text = some(draw, HEX, 32, 32)
    parts = [text[:8], text[8:12], text[12:16], text[16:20], text[20:]]
    given = (text, "-".join(parts), some(draw, HEX, 40, 40), some(draw, HEX, 63, 64))
    return edited(draw, draw.choice(given), HEX + "-gz")


@kind("hashes", made_hash)
def hashed(text: str) -> bool:
    parts = text.split("-")
    places = {sum(map(len, parts[:n])) for n in range(1, len(parts))}
    digits = "".join(parts)
    whole = len(digits) in (40, 64) and len(parts) == 1
    uuid = len(digits) == 32 and places <= {8, 12, 16, 20} and all(parts)
    return (whole or uuid) and set(digits) <= set(HEX)


@kind("emails", lambda draw: edited(draw, f"{some(draw, 'ab ', 0, 3)}a.b@ex.{some(draw, 'deC1', 1, 3)}", "@. x"))
def email(text: str) -> bool:
    for place, sign in enumerate(text):
        if sign != "@" or place == 0 or text[place - 1] in "@ ":
            continue
        rest = text[place + 1 :].replace("@", " ").split(" ")[0]
        for dot in range(1, len(rest)):
            if rest[dot] == "." and len(rest) > dot + 2 and set(rest[dot + 1 : dot + 3]) <= set(string.ascii_letters):
                return True
    return False


@kind(
    "urls",
    lambda draw: edited(
        draw, f"{some(draw, 'a -', 0, 2)}{draw.choice(('http://x', 'HTTPS://', 'www.x', 'Www.'))}", "w:/. s"
    ),
)
def url(text: str) -> bool:
    low = text.lower()
    hosts = [n for n in range(len(low)) if low.startswith("www.", n) and (n == 0 or low[n - 1] not in ALNUM)]
    return "http://" in low or "https://" in low or any(low[n + 4 : n + 5] in ALNUM and low[n + 4 :] for n in hosts)


@kind(
    "personal_numbers",
    lambda draw: edited(
        draw, f"{draw.randrange(10**3):03}-{draw.randrange(100):02}-{draw.randrange(10**4):04}", "0-9x"
    ),
)
def personal_number(text: str) -> bool:
    for place in range(len(text) - 10):
        part, before, after = text[place : place + 11], text[:place][-1:], text[place + 11 :][:1]
        alone = not before.isdigit() and not after.isdigit()
        if alone and [len(each) for each in part.split("-")] == [3, 2, 4] and part.replace("-", "").isdigit():
            return True
    return False


@kind("telephones", lambda draw: "+" + edited(draw, some(draw, "0123456789 -", 6, 18), "0/()."))
def telephone(text: str) -> bool:
    """With a + before a digit, the form of E.164: 7 to 15 digits."""
    return text[1:2].isdigit() and 7 <= sum(map(str.isdigit, text)) <= 15


@kind("days", lambda draw: f"{draw.randrange(1550, 2150)}-{draw.randrange(14):02}-{draw.randrange(34):02}")
def day(text: str) -> bool:
    year, month, day = map(int, text.split("-"))
    return 1600 <= year < 2100 and 1 <= month <= 12 and 1 <= day <= 31 and (month, day) != (1, 1)


@kind(
    "over_89",
    lambda draw: f"{draw.choice(('', '0'))}{draw.randrange(130)}{draw.choice(('', '.0', '.5', ' years', '+', '-99'))}",
)
def age(text: str) -> bool:
    digits = "".join(each if each.isdigit() else " " for each in text).split()[0]
    return int(digits) > 90 or (int(digits) == 90 and text.endswith((".5", "-99")))


@kind(
    "born_before",
    lambda draw: f"{draw.choice(('', '[', '< '))}{draw.randrange(900, 2100)}{draw.choice(('', '-01-02', ', 1990)'))}",
)
def birth_year(text: str) -> bool:
    """Of whoever was born before 1937, as the scan of these tests is told."""
    return 1000 <= int("".join(each if each.isdigit() else " " for each in text).split()[0]) < 1937


@kind(
    "sparse_zips", lambda draw: f"{draw.randrange(1000):0{draw.choice((1, 3))}}{draw.choice(('', '', '.0', 'xx', '4'))}"
)
def sparse_zip(text: str) -> bool:
    digits = text.removesuffix(".0").removesuffix("xx")
    return len(digits) <= 3 and int(digits) in SPARSE


@pytest.mark.parametrize("name", KINDS)
def test_each_count_is_that_of_the_oracle(name: str) -> None:
    count, made, oracle = KINDS[name]
    draw = random.Random(39)
    values = [made(draw) for _ in range(NUMBER)]
    stripped = [each.strip() for each in values]
    expected = sum(map(oracle, stripped))
    assert 0 < expected < NUMBER
    found = counted(values)[count]
    assert found == expected, wrong(count, oracle, stripped)


def wrong(count: str, oracle: Callable[[str], bool], values: list[str]) -> list[str]:
    """A value of which the scan and the oracle disagree, by halves."""
    while len(values) > 1:
        half = values[: len(values) // 2]
        values = half if counted(half)[count] != sum(map(oracle, half)) else values[len(half) :]
    return values
