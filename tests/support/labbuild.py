"""Sessions of the lab for tests, random moves in them, and what ``simulate`` says of the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from kubeclassic.api.load import Loaded
from kubeclassic.core.engine import Engine
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.questions.lab.actions import filters_of, scorers_of
from kubeclassic.questions.lab.labconfiguration import LabConfiguration
from kubeclassic.questions.lab.labinput import LabInput
from kubeclassic.questions.lab.session import Given, Session, commands
from kubeclassic.questions.lab.workbench import LabState
from kubeclassic.questions.simulate.ask import simulate
from kubeclassic.simulation.scenario import Files, Scenario
from kubeclassic.simulation.simulate import Simulation
from tests.conftest import ROOT
from tests.support.build import Json
from tests.support.townforms import machine, person

if TYPE_CHECKING:
    from kubeclassic.live.server.labapp import LabApp

EXAMPLE = ROOT / "examples" / "cluster"
GIVEN = Given(("examples/cluster",))
Fates = dict[str, tuple[str | None, str]]
"""Pod -> its node, or None and why."""


def session(path: Path = EXAMPLE, release: str = "1.15") -> Session:
    """A session on the manifests at *path*."""
    return Session.begin(LabInput(Files.read([path])), LabConfiguration.of(SchedulerSpec.of(options_of({"release": release})).read()))


def lab_app(token: str = "token") -> LabApp:
    """The lab's application on the example cluster."""
    from kubeclassic.cli.lab import lab_app as app_of

    return app_of(session(), GIVEN, token=token)


def town(nodes: list[int], placed: list[int], waiting: list[int]) -> Session:
    """A session on a small town; the numbers are variants of its nodes and pods."""
    machines = [machine(number, variant) for number, variant in enumerate(nodes)]
    there = [person(variant, f"there-{number}", on=f"n{number % len(nodes)}") for number, variant in enumerate(placed)]
    pods = [person(variant, f"new-{number}") for number, variant in enumerate(waiting)]
    files = Files(Loaded((*machines, *there, *pods)))
    return Session.begin(LabInput(files), LabConfiguration.of(SchedulerSpec.of(options_of({"release": "1.15"})).read()))


# --- moves ----------------------------------------------------------------------------------------------------------

MOVES = st.tuples(st.integers(0, 7), st.integers(0, 1000), st.integers(0, 12))
"""Moves as numbers: of what kind, which rule, which value."""


def move(found: Session, drawn: tuple[int, int, int]) -> Json:
    """The action that *drawn* is in the current state."""
    kind, which, value = drawn
    configuration = found.state.configuration
    filters = [rule for rule in filters_of(configuration) if not rule.is_mandatory]
    scorers = scorers_of(configuration)
    if kind in (0, 1, 2, 3):
        return {"do": "weight", "rule": scorers[which % len(scorers)].name, "weight": value}
    if kind in (4, 5):
        rule = filters[which % len(filters)]
        return {"do": "switch", "rule": rule.name, "on": not rule.is_on}
    if kind == 6:
        return {"do": "release", "value": list(ALL_RELEASES)[which % len(ALL_RELEASES)]}
    settings: list[tuple[str, Any]] = [("percentage", value * 8), ("hardPodAffinityWeight", value + 1), ("order", "priority")]
    name, given = settings[which % len(settings)]
    return {"do": "set", "name": name, "value": given}


EDITS = st.tuples(st.integers(0, 11), st.integers(0, 1000), st.integers(0, 12))
"""Moves and edits as numbers."""


def edit(found: Session, drawn: tuple[int, int, int]) -> Json:
    """The edit of a node or a pod that *drawn* is in the current state, or the move."""
    kind, which, value = drawn
    there = scenario(found)
    pods = [*there.pending, *(item for item in there.objects if item.kind == "Pod")]
    node, pod = there.nodes[which % len(there.nodes)].name, pods[which % len(pods)].key
    edits = {
        0: f"pod {pod} requests.cpu={100 * value + 100}m", 1: f"pod {pod} labels.app={'ab'[value % 2]}",
        2: f"node {node} allocatable.cpu={value}", 3: f"node {node} labels.disk={('ssd', 'hdd')[value % 2]}",
        4: f"node {node} taints+=k=v{value}:NoSchedule", 5: f"pod {pod} nodeName-",
    }  # fmt: skip
    if kind in edits:
        return {"do": "edit", "text": edits[kind]}
    if kind == 6:
        return {"do": ("cordon", "uncordon", "drain")[value % 3], "node": node}
    return {"do": "undo"} if kind == 7 else move(found, (value % 8, which, value))


def engine_of(found: Session) -> Engine:
    """The scheduler with which the next run of the current state begins."""
    with found.bench.simulation(found.state) as simulation:
        simulation.begin()
        return simulation.engine


# --- what simulate says ---------------------------------------------------------------------------------------------


def fates(found: Session) -> Fates:
    """What the lab says of the pods that wait."""
    answer, waiting = found.answer, [pod.key for pod in scenario(found).pending]
    at = answer.layout.pod_at
    return {key: (answer.host_of(key), answer.texts.texts[int(answer.whys[at[key]])]) for key in waiting}


def simulated(found: Session) -> Fates:
    """What a new scheduler, told of everything from the beginning, says of them."""
    configuration = found.state.configuration
    simulation = Simulation(scenario(found), configuration.spec().engine(scenario(found).config_maps), configuration.order)
    for _ in simulation.decisions():
        pass
    return {key: (outcome.host, outcome.error or "") for key, outcome in simulation.outcomes.items()}


def by_function(found: Session) -> Fates:
    """What :func:`kubeclassic.simulate` says with the Policy or the profile that the lab saves."""
    state: LabState = found.state
    configuration = state.configuration
    rules = {"profile" if configuration.runs_profiles else "policy": configuration.saved()}
    more: dict[str, Any] = {} if configuration.runs_profiles else {"hard_pod_affinity_weight": configuration.hard_weight}
    more["percentage_of_nodes_to_score"] = configuration.percentage or None
    options = options_of({"release": configuration.release, **rules, **more})
    result = simulate(EXAMPLE, options, edits=state.changes.edits, order=configuration.order)
    return {key: (outcome.host, outcome.error or "") for key, outcome in result.outcomes.items()}


def scenario(found: Session) -> Scenario:
    """The scenario of the current state."""
    return found.bench.scenario(found.state)


def in_a_terminal(found: Session, folder: Path, program: Path) -> Fates:
    """What the commands that the lab saves print in *folder*, where *program* is ``kubeclassic``."""
    text = commands(found.state, found.input, GIVEN).rstrip() + " -o json"
    done = subprocess.run(
        ["bash", "-c", text], cwd=folder, capture_output=True, text=True, check=False, env={"PATH": f"{program.parent}:/usr/bin:/bin"}
    )
    assert done.returncode in (0, 1), done.stderr
    return {pod["pod"]: (pod["host"], pod["error"] or "") for pod in json.loads(done.stdout)["pods"]}
