"""What steps of the lab carry over from the one before: found by what differs, and the same as if it were worked out afresh."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Node, ObjectMeta
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.questions.lab import labinput, workbench
from kubeclassic.questions.lab.differences import differing
from kubeclassic.questions.lab.labinput import LabInput
from kubeclassic.questions.lab.labrun import ClusterLayout
from kubeclassic.questions.lab.questions import LabQuestions
from kubeclassic.questions.lab.session import Session
from kubeclassic.simulation.releasenotes import with_release_notices
from tests.support.build import Json
from tests.support.examples import examples
from tests.support.labbuild import edit, engine_of, session

POOL = [Node(metadata=ObjectMeta(name=name, labels={"is": label})) for name in "abcdef" for label in ("old", "new")]
"""Two objects of each key."""


def naive(before: list[Node], now: list[Node]) -> tuple[set[int], set[int]]:
    """What only one of both has, by identity."""
    return {id(item) for item in before} - {id(item) for item in now}, {id(item) for item in now} - {id(item) for item in before}


@examples(1)
@given(st.lists(st.integers(0, 1), min_size=6, max_size=6), st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_any_differences(before: list[int], now: list[int]) -> None:
    """What has gone and what has come is what a comparison of all with all finds; 2 stands for an object that is not there."""
    there = [POOL[2 * at + which] for at, which in enumerate(before)]
    here = [POOL[2 * at + which] for at, which in enumerate(now) if which < 2]
    gone, come = differing(there, here)
    assert ({id(item) for item in gone.values()}, {id(item) for item in come.values()}) == naive(there, here)


def steps(found: Session, draw: random.Random) -> Json:
    """A random step, which may also add nodes or take them away."""
    nodes = [node.name for node in found.bench.scenario(found.state).nodes if "-copy" not in node.name]
    if not draw.randrange(5):
        return {"do": draw.choice(("copy", "uncopy")), "node": draw.choice(nodes[:3]), "count": draw.randrange(1, 3)}
    return edit(found, (draw.randrange(12), draw.randrange(1000), draw.randrange(13)))


def told(layout: ClusterLayout) -> Any:
    """What a layout says, without the order of its pods."""
    record = layout.record()
    return {**record, "number": 0, "pods": sorted(record["pods"])}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_as_if_made_afresh(seed: int) -> None:
    """After each of thirty random steps scenario, warnings and layout are those of a session that begins there."""
    found, draw = session(release=("1.16", "1.27", "1.34")[seed - 1]), random.Random(seed)
    for _ in range(30):
        with contextlib.suppress(KubeclassicError):
            found.do(steps(found, draw))
        configuration, there = found.state.configuration, found.bench.scenario(found.state)
        names = configuration.spec().scheduler_names
        afresh = LabInput(found.input.files).scenario(found.state.changes, names, priorities=True)
        assert attrs.asdict(there, recurse=False) == attrs.asdict(afresh, recurse=False)
        engine, answer = engine_of(found), found.answer
        assert told(answer.layout) == told(ClusterLayout.of(0, afresh, engine))
        assert answer.notices == with_release_notices(afresh, [engine.algorithm]).warnings


def test_a_copy_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more copy makes only its own nodes, and warnings are not looked for again where a node says nothing new."""
    found, calls = session(release="1.34"), list[str]()

    def counted(module: Any, name: str) -> None:
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given: calls.append(name) or real(*given))

    found.do({"do": "copy", "node": "general-a1", "count": 1})
    counted(labinput, "kinds_of")
    counted(workbench, "with_release_notices")
    found.do({"do": "copy", "node": "control-plane", "count": 1})
    assert calls == ["kinds_of"]


def shown(before: Json | None, answer: Json) -> Json:
    """What a page shows after *answer* that showed *before*: it puts what is new in its place, or after the rest."""
    plot, placement = answer["plot"], answer["placement"]
    nodes, pods, hosts = ({} if before is None else dict(before[name]) for name in ("nodes", "pods", "hosts"))
    if plot is not None and "since" in plot:
        nodes |= plot["nodes"]
        pods |= plot["pods"]
    elif plot is not None:
        nodes, pods = dict(enumerate(plot["nodes"])), dict(enumerate(plot["pods"]))
    hosts = ({} if placement["whole"] else hosts) | {pod: node for pod, node, _ in placement["rows"]}
    return {"nodes": nodes, "pods": pods, "hosts": hosts}


def test_what_a_page_puts_together() -> None:
    """A page that follows step by step shows what a page shows that is opened now."""
    found, draw = session(release="1.16"), random.Random(5)
    questions = LabQuestions(found)
    answer = questions.look({})
    page = shown(None, answer)
    for _ in range(40):
        with contextlib.suppress(KubeclassicError):
            answer = questions.do({**steps(found, draw), **seen_by(answer)})
            page = shown(page, answer)
        assert page == shown(None, questions.look({}))


def test_new_nodes_are_sent_alone() -> None:
    """A page that is told of new nodes is not told of the others again."""
    questions = LabQuestions(session())
    first = questions.look({})
    second = questions.do({"do": "copy", "node": "general-a1", "count": 2, **seen_by(first)})
    assert list(second["plot"]["nodes"]) == [len(first["plot"]["nodes"]), len(first["plot"]["nodes"]) + 1]
    assert not second["placement"]["whole"]


def test_requests_are_those_of_the_release() -> None:
    """In a release that counts sidecars a pod that has one requests more, and the page is told so."""
    questions = LabQuestions(session(release="1.16"))
    first = questions.look({})
    second = questions.do({"do": "release", "value": "1.29", **seen_by(first)})
    requests = {pod[0]: pod[1] for pod in first["plot"]["pods"]}
    changed = {pod[0]: pod[1] for pod in second["plot"]["pods"].values()}
    assert [more - less for more, less in zip(changed["shop/orders-0"], requests["shop/orders-0"], strict=True)][:2] == [100, 64 << 20]


def seen_by(answer: Json) -> Json:
    """What a page says that shows *answer*."""
    return {"seen": answer["session"]["number"], "plot": answer["placement"]["plot"]}
