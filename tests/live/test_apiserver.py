"""The API server of the tests, held to the recordings of real ones, exchange by exchange."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.apiserver.replay import Exchange, Remark, Replay, read
from tests.apiserver.resources import FLAVOURS
from tests.conftest import SHARED

Rule = Callable[[Exchange], bool]

LEFT_OUT: Mapping[str, Rule] = {
    "lists as tables or as bare metadata: nobody here asks for them": lambda it: ";as=" in it.accept and ";as=APIGroup" not in it.accept,
    "discovery in one document, and in protobuf: as above": lambda it: "protobuf" in it.accept or ";as=APIGroup" in it.accept,
    "reviews of access: there are no roles here": lambda it: it.path.endswith("/subjectaccessreviews"),
    "JSON patches, evictions, deletions of all objects: as above": lambda it: it.is_unusual,
    "strict validation of fields: as above": lambda it: "fieldValidation=Strict" in it.query,
}
"""Why -> which exchanges are not compared."""

LOOSE: Mapping[str, Rule] = {
    "texts of the JSON decoder of Go": lambda it: it.status == 400 and it.reply_message.startswith(("Node in", "Pod in", "Lease in")),
    "what a JSON patch had added": lambda it: "j" in it.labels,
    "what names the build, its address and its other paths": lambda it: it.path in ("/version", "/api", "/nosuch", "/livez", "/readyz"),
}
"""Why -> of which exchanges only status and reason are compared."""

LOOSE_WATCHES = {("1.28.7", "d-preemption", 43): "the driver's last clean-up is not in the recording"}
"""(version, scenario, number) -> why the events of a watch are not compared."""

SCENARIOS = 33
EXCHANGES = {"1.15.5": 3600, "1.28.7": 3700}
"""Version -> how many exchanges there are at least."""


@pytest.fixture(scope="session")
def recordings(shared: Path) -> Path:
    """The folder of the recordings."""
    return shared / "recordings"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every version and scenario that is there."""
    if "scenario" in metafunc.fixturenames:
        metafunc.parametrize(("version", "scenario"), list(scenarios()))


def scenarios() -> Iterator[tuple[str, str]]:
    """Version and scenario of each recording; none where the larger data is absent."""
    for version in FLAVOURS:
        for file in sorted((SHARED / "recordings" / version).glob("*.jsonl.gz")):
            yield version, file.name.removesuffix(".jsonl.gz")


def is_in(table: Mapping[str, Rule], exchange: Exchange) -> bool:
    """Whether a rule of the table is about an exchange."""
    return any(rule(exchange) for rule in table.values())


@cache
def lines(file: Path) -> list[Exchange | Remark]:
    """The lines of a recording."""
    return read(file)


@attrs.frozen
class Outcome:
    """What a replay found."""

    differences: list[str]
    compared: int


def replayed(version: str, name: str, file: Path) -> Outcome:
    """All requests of a recording, fed in their order to an empty store."""
    replay, found, compared = Replay(version), list[str](), 0
    for line in lines(file):
        if isinstance(line, Remark):
            replay.heed(line)
        elif not is_in(LEFT_OUT, line):
            answer = replay.answer(line)
            differences = replay.differences(line, answer, is_loose=is_in(LOOSE, line))
            found += [f"{line.number}: {line.method} {line.path}: {each}" for each in differences]
            compared += 1
    for line, watch in replay.watches:
        if (version, name, line.number) not in LOOSE_WATCHES:
            found += [f"{line.number}: watch {line.path}: {each}" for each in replay.watch_differences(line, watch)]
    return Outcome(found, compared)


def test_answers_are_the_recorded_ones(version: str, scenario: str, recordings: Path) -> None:
    """Status, reason, body and events of every exchange are those of the real server, but for what it chooses."""
    outcome = replayed(version, scenario, recordings / version / f"{scenario}.jsonl.gz")
    assert outcome.differences == []
    assert outcome.compared > 0


def test_all_recordings_are_compared(recordings: Path) -> None:
    """Nearly every exchange with a server is compared, and each rule of what is left out is needed."""
    for version, least in EXCHANGES.items():
        files = list((recordings / version).glob("*.jsonl.gz"))
        exchanges = [line for file in files for line in lines(file) if isinstance(line, Exchange)]
        assert len(files) >= SCENARIOS - 4
        assert len(exchanges) >= least
        assert sum(is_in(LEFT_OUT, line) for line in exchanges) <= 14
    files = [file for version in EXCHANGES for file in (recordings / version).glob("*.jsonl.gz")]
    every = [line for file in files for line in lines(file) if isinstance(line, Exchange)]
    assert [why for table in (LEFT_OUT, LOOSE) for why, rule in table.items() if not any(map(rule, every))] == []


def wrong(exchange: Exchange, **changes: Any) -> Exchange:
    """An exchange whose recorded answer is another."""
    return attrs.evolve(exchange, reply=json.loads(json.dumps(exchange.reply)) | changes)


def test_a_wrong_answer_is_seen(recordings: Path) -> None:
    """The comparison finds another status, another field, a missing and a surplus one."""
    exchange = next(line for line in lines(recordings / "1.15.5" / "h3-api-binding.jsonl.gz") if isinstance(line, Exchange))
    replay = Replay("1.15.5")
    answer = replay.answer(exchange)
    spec = exchange.reply["spec"]
    assert replay.differences(exchange, answer) == []
    assert replay.differences(attrs.evolve(exchange, status=200), answer)
    assert replay.differences(wrong(exchange, kind="Nodes"), answer) == [".kind: got 'Node', wanted 'Nodes'"]
    assert len(replay.differences(wrong(exchange, spec={**spec, "unschedulable": True}), answer)) == 1
    assert len(replay.differences(wrong(exchange, spec={}), answer)) == 1
