"""What helps with one pod of a state: changes after which it fits, how many more of it do, and which releases put it elsewhere."""

from __future__ import annotations

from typing import Any

import attrs
from msgspec.structs import replace

from ...api.load import Loaded
from ...api.objects import Pod, PodStatus
from ...exceptions import KubeclassicError
from ...framework.releases import ALL_RELEASES
from ..capacity.question import asked
from ..edits.apply import Edits
from ..edits.paths import EditError
from ..explain.explain import freed
from ..explain.explanation import PodQuestion
from ..whatif.whatif import ScheduledPod, what_if
from .configurationchanges import with_release
from .source import LabError
from .why import found_pod
from .workbench import LabState, Workbench

MOST_COPIES_COUNTED = 1000


def what_helps(bench: Workbench, state: LabState, key: str) -> dict[str, Any]:
    """The smallest changes after which the pod *key*, which waits, gets a node, as plain data; ``edits`` is None where no edit says it.

    Raises :class:`~.source.LabError` for a name that nothing has.
    """
    scenario, spec, order = bench.scenario(state), state.configuration.spec(), state.configuration.order
    pod = found_pod(scenario, key)
    if pod.spec.node_name:
        raise LabError(f"{key}: it is on {pod.spec.node_name}, wanted a pod that waits", "why")
    question = ScheduledPod(scenario, spec, PodQuestion(), order, defaults=bench.input.files.defaults)
    with bench.simulation(state) as simulation:
        found = what_if(question, pod, simulation)
    suggestions = [
        {
            "change": one.change, "host": one.host, "victims": list(one.victims), "evictedBy": one.evicted_by,
            "edits": list(one.patch) if all(map(_is_edit, one.patch)) else None, "words": list(one.patch),
        }
        for one in found.suggestions
    ]  # fmt: skip
    return {"pod": key, "host": found.host, "tried": found.tried, "suggestions": suggestions}


def _is_edit(text: str) -> bool:
    try:
        Edits.parse([text])
    except EditError:
        return False
    return True


def how_many_more(bench: Workbench, state: LabState, key: str) -> dict[str, Any]:
    """How many more pods like *key* fit when all that wait had their turn, and what stops the next one, as plain data.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for a pod that cannot be copied.
    """
    scenario, spec = bench.scenario(state), state.configuration.spec()
    pod = freed(found_pod(scenario, key))
    pod = replace(pod, metadata=replace(pod.metadata, uid="", name=f"{pod.name}-more"), status=PodStatus())
    question = asked(
        scenario, [(key, Loaded((pod,)))], spec, limit=MOST_COPIES_COUNTED, pending_first=True, order=state.configuration.order,
        defaults=bench.input.files.defaults,
    )  # fmt: skip
    counted = question.counting(spec.engine(scenario.config_maps)).count()
    fits = sum(placed.fits for placed in counted.placed)
    nodes = sorted(((name, count) for placed in counted.placed for name, count in placed.nodes.items() if count), key=lambda one: -one[1])
    return {"pod": key, "fits": fits, "most": MOST_COPIES_COUNTED, "stop": counted.stop.message, "nodes": nodes}


def by_release(bench: Workbench, state: LabState, key: str) -> list[dict[str, Any]]:
    """Where each release puts the pod *key*: neighbours with the same node, or with none, are one, as plain data.

    Raises :class:`~.source.LabError` for a name that nothing has.
    """
    pod = found_pod(bench.scenario(state), key)
    if pod.spec.node_name:
        raise LabError(f"{key}: it is on {pod.spec.node_name}, wanted a pod that waits", "why")
    found: list[dict[str, Any]] = []
    for version in ALL_RELEASES:
        host, message = _in_release(bench, state, version, pod)
        latest = found[-1] if found else None
        if latest is not None and latest["host"] == host:
            latest["releases"].append(version)
        else:
            found.append({"releases": [version], "host": host, "message": message})
    return found


def _in_release(bench: Workbench, state: LabState, version: str, pod: Pod) -> tuple[str | None, str]:
    try:
        answer = bench.computed(attrs.evolve(state, configuration=with_release(state.configuration, version)))
    except KubeclassicError as error:
        return None, str(error)
    return answer.host_of(pod.key), answer.texts.texts[int(answer.whys[answer.layout.pod_at[pod.key]])]
