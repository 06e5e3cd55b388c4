"""The extender's answers are those of the engine asked directly, pod after pod of the conformance cases."""

import pytest
from msgspec.structs import replace

from kubeclassic.api.objects import Pod
from kubeclassic.core.run import Run
from kubeclassic.exceptions import PolicyError
from kubeclassic.simulation.conform import read_cases, read_items
from tests.support.serverbuild import first_and_last, mismatches, node_names, of_case

FAMILIES = first_and_last(left_out=("queue", "extenders", "events", "ghosts", "policyevents"))
"""The families whose cases can be asked of a server: the others have events, or no node."""
CASES = 1
PODS = 12
"""The number of pods of each family."""


def asked_pods(case):
    """Key -> the JSON of each pod that waits in a case."""
    return {
        f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}": pod
        for pod in case.get("pending", ())
    }


def nominated(served, pod):
    """The node that *pod* waits for, of which its status tells."""
    nominations = served.engine.nominations
    return next(
        (name for name in nominations if pod.key in [other.key for other in nominations.on(name)]), ""
    )


def compared(case):
    """The number of compared pods of a case, and the differences."""
    served = of_case(case)
    run = Run(served.engine)
    names = node_names(case)
    forms = asked_pods(case)
    served.engine.nominations.lister = None
    pods = [item for _, item in read_items(case) if isinstance(item, Pod)]
    for key, name in (case.get("nominated") or {}).items():
        run.nominate(next(pod for pod in pods if pod.key == key), name)
    found = []
    for pod in pods[:PODS]:
        current = replace(pod, status=replace(pod.status, nominated_node_name=nominated(served, pod)))
        with served.engine.preserving_state(current):
            decision = served.engine.schedule(current)
        status = {**forms[pod.key].get("status", {}), "nominatedNodeName": current.status.nominated_node_name}
        found += [
            f"{pod.key}: {line}"
            for line in mismatches(served, {**forms[pod.key], "status": status}, names, decision)
        ]
        run.cycle(pod)
    return len(pods[:PODS]), found


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.release}-{family.name}")
def test_filter_prioritize_and_preemption(family):
    """Fits, reasons, scores, victims and errors are the engine's, and asking changes no later decision."""
    read = (
        case
        for case in read_cases(family.cases)
        if "script" not in case and not any("event" in item for item in case["pending"])
    )
    usable = (
        case for case in read if node_names(case)
    )  # an extender that is asked about no node has no error to tell
    tried = 0
    for case in usable:
        try:
            count, found = compared(case)
        except PolicyError:
            continue  # the case is about a Policy that is refused
        assert count
        assert found == []
        tried += 1
        if tried == CASES:
            break
    assert tried == CASES
