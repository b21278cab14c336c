"""The claims of a release: every check runs again on the file, and must give the same, figure by figure."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from qidsql.checklists.checklist import checklist
from qidsql.commands.release.command import (
    UNCOMPARED,
    LineState,
    ReleaseRequest,
    ReleaseResult,
    request_again,
    verdict_of,
)
from qidsql.commands.release.lines import CHECKS
from qidsql.commands.release.release import release
from qidsql.commands.verify.command import Claim, Holds, VerifyRequest, held, same
from qidsql.core.policy import BUDGETS
from qidsql.core.results import SearchAccount, Verdict
from qidsql.declarations.results import plain
from qidsql.engines.base import Engine
from qidsql.version import __version__
from qidsql.wording.texts import few

ABOUT_BYTES = "it is about these bytes"
AGAIN = "checked again on the bytes"
RECORDED = "as recorded, protected only by the signature"
OF_WORK = (  # keys of an audit that are about its work, not about the bytes
    *("qidsql", "source", "engine", "snapshot", "started", "seconds", "policy", "statements", "rounds", "scans"),
    *("sets_profiled", "unfinished", "notes", "bytes_read", "bytes_exact", "reader", "time_zone", "kind", "table"),
)
OF_LIST = ("checklist", "item", "asks", "text", "more")  # of a line, whatever was measured
OF_EARLIER = (
    "policy added and removed",
    "policy order of rows",
    "policy releases together",
    "policy values together",
)  # lines that earlier releases decide, too


OF_REGISTERS = ("journalist", "marketer")  # risks that other tables decide, too


class ReleaseClaims:
    """The claims of one statement."""

    def __init__(
        self, claimed: ReleaseResult, engine: Engine | None, request: VerifyRequest, on_stage: Callable[[str], None]
    ) -> None:
        self._claimed, self._engine, self._given, self._on_stage = claimed, engine, request, on_stage
        self.found: ReleaseResult | None = None
        self.recorded: tuple[str, ...] = ()  # lines that nothing here can decide

    @property
    def rule(self) -> str:
        return "; ".join(each.title for each in self._claimed.predicate.checklists) or "the policy"

    @property
    def verdict(self) -> Verdict:
        return self._claimed.verdict

    @property
    def stated(self) -> str:
        return f"{self._claimed.verdict}, {self._claimed.reason}"

    @property
    def written(self) -> datetime:
        return self._claimed.account.started

    @property
    def request(self) -> ReleaseRequest:
        """The request that asks for the same, as of the same day."""
        stated = self._claimed.predicate
        is_file = any("sha256" in each.digest for each in self._claimed.subject)
        budget = {name: getattr(self._given, name) for name in BUDGETS}
        named = None if is_file else stated.audit.account.table
        return request_again(stated, self._given.table or named, **budget)

    def checked(self) -> Iterator[Claim]:
        """Each claim. Raises as the check of a release."""
        assert self._engine is not None, "only what was opened is checked"
        yield _is_canonical(self._given.result, self._claimed)
        self.found = found = release(self._engine, self.request, self._on_stage)
        claimed, again = plain(self._claimed.predicate), _as_named(found, self._claimed)
        other = "" if self._claimed.qidsql == __version__ else f"; qidsql {self._claimed.qidsql} may have other words"
        digests = sorted(json.dumps(plain(each.digest), sort_keys=True) for each in self._claimed.subject)
        here = sorted(json.dumps(plain(each.digest), sort_keys=True) for each in found.subject)
        identified = all(each.digest for each in found.subject)
        yield Claim(ABOUT_BYTES, held(digests == here and identified), "hashed again")
        yield same("the columns are right", {"columns": (claimed["columns"], again["columns"])}, "by the catalog")
        yield self._of_lines(claimed["lines"], again["lines"], f"{AGAIN}{other}")
        audits = claimed["audit"], again["audit"]
        keys = [key for key in {**audits[0], **audits[1]} if key not in OF_WORK]
        yield same("the figures of the audit are right", {k: (audits[0].get(k), audits[1].get(k)) for k in keys}, AGAIN)
        stated = {key: (claimed[key], again[key]) for key in ("rows", "checklists")}
        stated["risks"] = claimed["risks"], _with_recorded(again["risks"], claimed["risks"])
        stated["where"] = claimed["audit"]["policy"]["where"], None  # all rows of the bytes count
        verdict = verdict_of(self._claimed.predicate.lines)
        stated["verdict"] = verdict, (self._claimed.verdict, self._claimed.reason)
        stated["verdict of the predicate"] = verdict, (claimed["verdict"], claimed["reason"])
        yield same("its verdict follows", stated, "from these lines")
        yield from still_valid(self._claimed, datetime.now(UTC).date().isoformat())

    def _of_lines(self, stated: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]], how: str) -> Claim:
        """Each line is as it is measured now. What it was compared with may not be here: then it is only recorded."""
        lines, anew = ({_name(each): each for each in given} for given in (stated, found))
        predicate = self._claimed.predicate
        others: tuple[str, ...] = OF_EARLIER if predicate.earlier else ()
        if predicate.declared.linked or predicate.declared.people:
            beside = self.request.beside_policy
            lists = {each.name: checklist(each.name, frozenset(CHECKS), beside) for each in predicate.checklists}
            kinds = (*OF_REGISTERS, "linkability", "people of values", "people of pairs")
            others += tuple(f"{name} {it.item}" for name in lists for it in lists[name].lines if it.check in kinds)
        self.recorded = tuple(
            name
            for name in others
            if name in lines
            and anew[name] != lines[name]
            and anew[name]["state"] == LineState.NOT_EXAMINED
            and UNCOMPARED in anew[name]["measured"]
        )
        names = [name for name in dict.fromkeys((*lines, *anew)) if name not in self.recorded]
        figures: dict[str, tuple[object, object]] = {name: (lines.get(name), anew.get(name)) for name in names}
        for name in self.recorded:
            figures[name] = tuple({key: line[name][key] for key in OF_LIST} for line in (lines, anew))  # type: ignore[assignment]
        figures["number of lines"] = len(stated), len(found)
        return same(f"each of {len(names)} lines is right", figures, how)

    def account(self, unfinished: tuple[str, ...]) -> SearchAccount:
        """The account of the check, with what nothing can derive again."""
        stated = self._claimed.predicate
        audit = self.found.predicate.audit if self.found else stated.audit
        recorded = [f"{label.lower()} {text}" for label, text in stated.declared.facts]
        recorded += [f"the name {self._claimed.title}", f"that it was made from {stated.of}"]
        recorded += [f"the line {name}" for name in self.recorded]
        earlier = few([each.name for each in stated.earlier or ()])
        recorded += [f"that these left earlier, and where they are: {earlier}"] if earlier else []
        recorded += ["that nothing left earlier"] if stated.first else []
        recorded += [f"the copies with {stated.key}"] if stated.key else []
        policy = audit.account.policy
        recorded += [f"policy file {stated.policy_hash}", f"its settings (k = {policy.k})", "the roles of the columns"]
        recorded += [f"persons {stated.missing_entity}"] if stated.missing_entity else []
        recorded += ["the source as it was"] if stated.source or stated.source_read else []
        recorded += [f"the result {each.file}" for each in stated.evidence]
        recorded += [f"attempt {stated.declared.attempt}"] if stated.declared.attempt else []
        recorded += [
            f"checked {stated.audit.account.started:%Y-%m-%d}",
            "the boxes",
            "the notes",
            "the engine",
            "the cost of the work",
        ]
        given = {each: getattr(audit.account, each) for each in audit.account.__dataclass_fields__}
        return SearchAccount(
            **{**given, "unfinished": unfinished, "notes": (f"{RECORDED}: {'; '.join(recorded)}",)},
            entities=audit.entities,
            columns=tuple(each.name for each in audit.columns if each.audited),
            left_out=(),
            weights={},
        )


def _with_recorded(found: Sequence[dict[str, Any]], stated: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was found, and what was stated of registers that are not here."""
    there = {each["name"]: each for each in stated if each["name"] in OF_REGISTERS}
    return [there.get(each["name"], each) if each["risk"] is None else each for each in found]


def still_valid(claimed: ReleaseResult, today: str) -> Iterator[Claim]:
    """Whether the last day of the release, and those of the exceptions that it rests on, are over."""
    declared = claimed.predicate.declared
    if declared.until:
        yield Claim("it is valid today", held(today <= declared.until), f"until {declared.until}, {RECORDED}")
    used = {each.name for each in claimed.predicate.lines if each.exception is not None}
    for each in declared.exceptions or ():
        if each.line in used:
            text = f"the exception of {each.line} holds today"
            yield Claim(text, held(today <= each.expires), f"until {each.expires}, {RECORDED}")


def _is_canonical(path: str, claimed: ReleaseResult) -> Claim:
    """The bytes that are signed are the only ones of this statement."""
    written = Path(path)
    text = "the statement is in canonical form"
    if not written.is_file():
        return Claim(text, Holds.YES, "read from a pipe, as it was understood")
    return Claim(text, held(written.read_bytes() == claimed.canonical_json().encode()), "written again, byte by byte")


def _name(line: Mapping[str, Any]) -> str:
    return f"{line['checklist']} {line['item']}"


def _as_named(found: ReleaseResult, claimed: ReleaseResult) -> dict[str, Any]:
    """What was found, with the table named as in the statement: a file may have another name since."""
    text = json.dumps(plain(found.predicate))
    here, there = (json.dumps(str(each.account.table))[1:-1] for each in (found, claimed))
    renamed: dict[str, Any] = json.loads(text.replace(here, there))
    return renamed
