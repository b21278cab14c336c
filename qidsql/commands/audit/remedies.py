"""The effects of withholding columns: ranked on samples of classes where they are large, the best measured in full."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from qidsql.commands.audit.draft import Draft
from qidsql.commands.audit.result import ColumnFinding, Withheld
from qidsql.core.policy import Policy
from qidsql.core.tables import Role, names_of, positions
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.profiler import TableProfiler
from qidsql.search.smallest import Foresight, later_steps
from qidsql.wording.texts import few

STEPS = 3  # columns withheld at most
WIDE = 100  # columns; of more, only some are tried at the first step:
TRIED = 50  # those with the most values
CHOICE = 8  # columns tried at the later steps: those that helped most at the first
SHARE = 64  # one class in so many is sampled, unless these are fewer than ENOUGH or more than PLENTY
ENOUGH, PLENTY = 5_000, 50_000  # classes in a sample
LARGE = 500_000  # rows; of fewer, a sample is not much cheaper than a profile
FEW_ROWS = 100  # rows below k in a sample, below which it does not rank options
CLOSE = 4  # options measured in full at most, where the sample does not rank them


@dataclass(frozen=True, slots=True)
class _Option:
    """The columns left, and their profile: measured, or of one class in `share`."""

    left: int
    profile: ClassProfile
    share: int = 1

    def below_k(self, rows: int) -> int:
        """The rows below k of so many; of a sample an estimate, from the smaller part of it, which is more accurate."""
        if self.share == 1:
            return self.profile.rows_below_k
        safe = self.profile.rows - self.profile.rows_below_k
        few = self.profile.rows_below_k < safe
        return min(rows, self.profile.rows_below_k * self.share) if few else max(0, rows - safe * self.share)


def withhold(profiler: TableProfiler, policy: Policy, whole: ClassProfile, draft: Draft) -> None:
    """Profile the table without each column, then without the best two, then three.

    Columns + 2 * CHOICE profiles at most; of a wide table TRIED + 2 * CHOICE. Of a large table, samples of classes rank
    the columns, and only the best of each step is profiled, with those that the sample does not tell from it. Of equal
    columns the one with the most values is first. Raises Stopped.
    """
    singles = profiler.singles()
    left, choice = profiler.everything, sorted(positions(profiler.everything), key=lambda p: -singles[p].classes)
    choice = choice[:TRIED] if len(choice) > WIDE else choice
    share = _share(profiler, whole)
    foresight = Foresight(profiler, profiler.breadth)
    while left & (left - 1) and len(draft.withheld) < STEPS:
        sets = [left & ~(1 << place) for place in choice if left >> place & 1]
        if share == 1:
            guessed = [place for place in choice if left >> place & 1]
            removed = later_steps(profiler.everything ^ left, guessed, STEPS - 1 - len(draft.withheld))
            foresight.profiles(sets, (profiler.everything ^ mask for mask in removed if mask != profiler.everything))
        options = _ranked(profiler, sets, share, whole.rows)
        if not draft.withheld:
            _note_each(profiler, options, whole.rows, draft)
            choice = [(left ^ option.left).bit_length() - 1 for option in options[:CHOICE]]
        left, profile = options[0].left, options[0].profile
        still = obstacles(policy, profile, draft.columns)
        names = names_of(profiler.everything ^ left, profiler.names)
        draft.withheld.append(Withheld(columns=names, passes=not still, still=still, profile=profile))
        if not any(criterion.met_by(profile) for criterion in policy.criteria):
            return


def obstacles(policy: Policy, profile: ClassProfile, columns: Sequence[ColumnFinding]) -> str:
    """What is still in the way of the policy if the columns left have this profile, in words; empty: nothing."""
    met = [criterion.obstacle for criterion in policy.criteria if criterion.met_by(profile)]
    others = [column.name for column in columns if column.recognised or column.role is Role.UNREADABLE]
    return ", ".join(met) or (f"{few(others)} must not be published either" if others else "")


def _share(profiler: TableProfiler, whole: ClassProfile) -> int:
    """One class in so many is sampled; 1 if all are measured."""
    if whole.rows < LARGE or whole.disclosing or not profiler.samples_classes():
        return 1
    return max(1, min(whole.classes // ENOUGH, max(SHARE, whole.classes // PLENTY)))


def _ranked(profiler: TableProfiler, sets: Sequence[int], share: int, rows: int) -> list[_Option]:
    """The sets of columns left, the best first, which is measured in full."""

    def rank(option: _Option) -> tuple[int, int, int]:
        disclosing = sum(each.rows for each in option.profile.disclosing)
        return option.below_k(rows) + disclosing, -option.profile.smallest, -option.profile.colliding_pairs

    if share == 1:
        return sorted(_measured(profiler, sets), key=rank)
    settled = dict.fromkeys(left for left in sets if profiler.settles(left))
    unknown = [left for left in sets if left not in settled]
    sampled = zip(unknown, profiler.sampled(unknown, share), strict=True)
    found = [*_measured(profiler, [*settled]), *(_Option(left, profile, share) for left, profile in sampled)]
    options = sorted(found, key=rank)
    unsure = [option for option in options[1:CLOSE] if option.profile.rows_below_k < FEW_ROWS]
    best = [options[0], *unsure]
    measured = sorted(_measured(profiler, [option.left for option in best]), key=rank)
    return [*measured, *options[len(best) :]]


def _measured(profiler: TableProfiler, sets: Sequence[int]) -> list[_Option]:
    return [_Option(left, profile) for left, profile in zip(sets, profiler.profiles(sets), strict=True)]


def _note_each(profiler: TableProfiler, options: Sequence[_Option], rows: int, draft: Draft) -> None:
    """Note the effect of each column: its profile if it was measured, else an estimate of the share below k."""
    by_name = {profiler.names[(profiler.everything ^ each.left).bit_length() - 1]: each for each in options}
    for number, finding in enumerate(draft.columns):
        option = by_name.get(finding.name)
        if option is None:
            continue
        if option.share == 1:
            draft.columns[number] = replace(finding, without=option.profile)
        else:
            draft.columns[number] = replace(finding, without_about=Fraction(option.below_k(rows), max(1, rows)))
