"""Labs for tests, random moves in them, and the answers of ``simulate`` to the same."""

import threading

import attrs
import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from kubeclassic.api.load import Loaded
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.questions.lab.lab import Given, Lab, SearchStopped
from kubeclassic.questions.lab.scenarios import LabState, StateRules, scheduler_of
from kubeclassic.questions.simulate.ask import simulate
from kubeclassic.questions.whatif.suggestion import Suggestion
from kubeclassic.simulation.simulate import Files
from tests.conftest import ROOT
from tests.support.townforms import machine, person

EXAMPLE = ROOT / "examples" / "cluster"


def lab_on(files, paths=(), **values):
    """A lab on *files*, started with these options."""
    options = options_of(values)
    spec = SchedulerSpec.of(options).read()
    return Lab(files, spec, LabState(scheduler=scheduler_of(options, spec, files.loaded)), Given(paths))


def example_lab(release="1.15", **values):
    """A lab on the example cluster."""
    return lab_on(Files.read([EXAMPLE]), ("examples/cluster",), release=release, **values)


def town(nodes, placed, waiting):
    """A lab on a small town; the numbers are variants of its nodes and pods."""
    machines = [machine(number, variant) for number, variant in enumerate(nodes)]
    there = [
        person(variant, f"there-{number}", on=f"n{number % len(nodes)}")
        for number, variant in enumerate(placed)
    ]
    pods = [person(variant, f"new-{number}") for number, variant in enumerate(waiting)]
    return lab_on(Files(Loaded((*machines, *there, *pods))), release="1.15")


def lab_app(token="token"):
    """The lab's application on the example cluster."""
    from kubeclassic.cli.lab import page_file
    from kubeclassic.live.server.labapp import LabApp

    return LabApp(lab=example_lab(), files=page_file, token=token)


@attrs.define
class Searching:
    """A substitute for a lab: it finds one change, and goes on until it is ended, or raises *error*."""

    error: object = None
    is_ended: object = attrs.field(factory=threading.Event)

    def answer(self, body, observer):
        """The answer, or none."""
        observer.found(
            Suggestion(change="a change", patch=("node n x=y",), host="n", kind="label", disturbs=22)
        )
        if self.error is not None:
            raise self.error
        try:
            while not self.is_ended.wait(0.01):
                observer.pause()
        except SearchStopped:
            self.is_ended.set()
        return {}


# --- asking -------------------------------------------------------------------------------------------------


def ask(lab, question, state, cluster=None, **options):
    """The answer that the page gets."""
    return lab.answer(
        msgspec.json.encode({"question": question, "state": state, "options": options, "cluster": cluster})
    )


def fates(found):
    """Pending pod -> its host and error."""
    return {one["pod"]: (one["host"], one["error"] or "") for one in found["pods"]}


def answered(lab, state):
    """The lab's :func:`fates` in *state*."""
    return fates(ask(lab, "simulate", state))


def fresh(lab, state):
    """The :func:`fates` by :func:`kubeclassic.simulate` with the Policy or the profile of *state*, its edits
    and its pods."""
    options = StateRules(lab.spec, state).options()
    cluster = EXAMPLE if lab.given.paths else lab.files.loaded.objects
    return fates(simulate(cluster, options, pods=state.pods, edits=state.edits, order=state.order).record())


# --- moves --------------------------------------------------------------------------------------------------

MOVES = st.tuples(st.integers(0, 13), st.integers(0, 1000), st.integers(0, 12))
"""Moves and edits as numbers: the kind, the rule or object, and the value."""


def moved(lab, state, drawn):
    """The state after the move *drawn*."""
    kind, which, value = drawn
    known = StateRules(lab.spec, state).known
    if kind < 4 and known.scorers:
        return replace(
            state, weights={**state.weights, list(known.scorers)[which % len(known.scorers)]: value}
        )
    if kind < 6 and known.filters:
        return replace(
            state,
            switches={**state.switches, list(known.filters)[which % len(known.filters)]: value % 2 == 0},
        )
    if kind < 7:
        return replace(
            state, scheduler={**state.scheduler, "release": list(ALL_RELEASES)[which % len(ALL_RELEASES)]}
        )
    if kind < 8:
        settings = [{"percentage_of_nodes_to_score": value * 8}, {"hard_pod_affinity_weight": value + 1}]
        return replace(
            state,
            scheduler={**state.scheduler, **settings[which % 2]},
            order=("input", "priority")[value % 2],
        )
    scenario = lab.scenarios.scenario(state, StateRules(lab.spec, state).spec())
    pods = [*scenario.pending, *(item for item in scenario.objects if item.kind == "Pod")]
    node = scenario.nodes[which % len(scenario.nodes)].name
    pod = pods[which % len(pods)].key
    edits = (
        f"pod {pod} requests.cpu={100 * value + 100}m",
        f"pod {pod} labels.app={'ab'[value % 2]}",
        f"node {node} allocatable.cpu={value}",
        f"node {node} labels.disk={('ssd', 'hdd')[value % 2]}",
        f"node {node} taints+=k=v{value}:NoSchedule",
        f"pod {pod} nodeName-",
        f"node {node} unschedulable=true",
        f"drain node {node}",
        f"copy node {node} x2",
        f"delete pod {pod}",
    )
    return replace(state, edits=(*state.edits, edits[(which + value + kind) % len(edits)]))
