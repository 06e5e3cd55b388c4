"""Scenarios with extenders: what extenders and the API server are asked is what the original asked."""

import json
from functools import cache
from itertools import groupby
from operator import itemgetter

import pytest

from kubeclassic.extenders.choice import make_extenders
from kubeclassic.framework.config.configuration import KIND
from kubeclassic.framework.config.profiles import GROUP
from tests.extenders.test_recordings import SCENARIOS
from tests.live.scheduler.recorded import asked_by, comparable, play, reads, recorded_asked, writes
from tests.live.scheduler.recordedextenders import RecordedExtenders, pod_of
from tests.live.scheduler.recordedpace import exchanges
from tests.live.scheduler.test_recordings import making, scenario_file

CRASH = ("1.15.5", "f9-extender-odd-cache")
"""There an extender names a node that is not in the cluster, and the original ends."""
TOO_LATE = ("1.28.7", "f9-extender-odd-cache")
"""There one of the pods that are deleted went before the original took it from the queue."""
EXTENDED = (("1.15", "1.15.5"), ("1.27", "1.28.7"))
"""In 1.28.7 preemption still looks at nodes without a reason, as in 1.27; later patches of 1.28 do not."""
each_scenario = pytest.mark.parametrize(
    "release, version, scenario",
    [(release, version, scenario) for release, version in EXTENDED for scenario in SCENARIOS],
)


@cache
def played(file, release):
    """The scenario in *file*, played once for all tests with its Policy or configuration; and its extenders,
    which answered as recorded."""
    recorded = exchanges(file)
    given = next(one["config"] for one in recorded if "config" in one)
    config = (
        {"policy": given}
        if given.get("kind") == "Policy"
        else {"profile": {"apiVersion": f"{GROUP}/v1", "kind": KIND, **given}}
    )
    asked = RecordedExtenders.of(recorded)

    def made(configs, release):
        return make_extenders(configs, release, asked.open)

    return play(file, making(release, config, extenders=made), asked), asked


def by_pod(calls):
    """Pod -> the calls about it, in order, without UIDs, versions and times.

    Nodes are searched at the same time, and so are extenders asked to prioritize: their order is chance.
    """
    calls = list(calls)
    found = {}
    names = {
        body["Pod"]["metadata"]["uid"]: body["Pod"]["metadata"]["name"] for _, body in calls if "Pod" in body
    }
    for path, body in calls:
        found.setdefault(pod_of(body), []).append((path, comparable(_in_order(_named(body, names)))))
    return {
        pod: [one for run in _runs(asked) for one in sorted(run, key=itemgetter(0))]
        for pod, asked in found.items()
    }


def _named(body, names):
    """*body* with the names of pods in place of their UIDs."""
    text = json.dumps(body)
    for uid, name in names.items():
        text = text.replace(uid, name)
    return json.loads(text)


def _in_order(body):
    """*body* with its nodes by name."""
    names = body.get("NodeNames")
    nodes = body.get("Nodes")
    if nodes:
        nodes = {**nodes, "items": sorted(nodes["items"], key=lambda node: str(node["metadata"]["name"]))}
    return {**body, **({"NodeNames": sorted(names)} if names else {}), **({"Nodes": nodes} if nodes else {})}


def _runs(asked):
    """The calls, those together that are made at the same time."""
    for is_prioritize, run in groupby(asked, lambda one: one[0].endswith("prioritize")):
        found = list(run)
        yield from [found] if is_prioritize else [[one] for one in found]


@each_scenario
def test_our_calls_are_the_originals(release, version, scenario, shared):
    """For each pod the same calls in the same order, with the same bodies but for UIDs, versions and
    times."""
    _, asked = played(scenario_file(shared, version, scenario), release)
    assert by_pod(asked.asked) == by_pod(asked.calls)


@each_scenario
def test_our_other_requests_are_the_originals(release, version, scenario, shared):
    """Each pod's writes and reads are the same, in the same order, with the same bodies except UIDs, versions
    and times."""
    file = scenario_file(shared, version, scenario)
    ours, theirs = (
        _seen(asked, version, scenario)
        for asked in (asked_by(played(file, release)[0]), recorded_asked(file))
    )
    assert writes(ours) == writes(theirs)
    assert reads(ours) == reads(theirs)


def _seen(asked, version, scenario):
    """*asked* without what is told of the pod at which the original crashed, or that a pod was taken from the
    queue just before it went."""
    if (version, scenario) == CRASH:
        return [one for one in asked if "pod-unknown" not in json.dumps(one)]
    return [
        one
        for one in asked
        if (version, scenario) != TOO_LATE or "skip schedule deleting pod" not in json.dumps(one)
    ]
