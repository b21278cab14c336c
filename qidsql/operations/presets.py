"""Minimum class sizes required by regulators or recommended in the literature, by name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """A minimum class size and its source."""

    k: int
    source: str


PRESETS = {
    "five": Preset(5, "k = 5, the value most often recommended (El Emam & Dankar 2008, a risk of 0.2)"),
    "cms": Preset(11, "k = 11: no cell of 1 to 10 persons (CMS cell size suppression policy)"),
    "ema": Preset(12, "k >= 12: a risk of at most 0.09 (EMA Policy 0070, Health Canada), strictly read as 1/k < 0.09"),
}
