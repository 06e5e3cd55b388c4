"""Templates: pods that some rule can tell apart do not share one."""

from itertools import permutations

import pytest

from kubeclassic.core.feed import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod

REQUIRED = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": []}]}
    }
}
RESTARTS = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
TOLERATION = {"key": "k", "operator": "Gt", "value": "1"}
VARIANTS = {
    "plain": {},
    "users of the host": {"hostNetwork": True, "hostUsers": False},
    "selector": {"nodeSelector": {"disk": "ssd"}},
    "affinity": {"affinity": REQUIRED},
    "toleration": {"tolerations": [TOLERATION]},
    "another": {"tolerations": [{**TOLERATION, "value": "2"}]},
    "image": {"volumes": [{"name": "v", "image": {"reference": "big"}}]},
    "emptyDir": {"volumes": [{"name": "v", "emptyDir": {}}]},
    "gate": {"schedulingGates": [{"name": "g"}]},
    "restarts": {"containers": [{"name": "c", "image": "i", "restartPolicyRules": RESTARTS}]},
    "requests": {"resources": {"requests": {"cpu": "1"}}},
    "overhead": {"overhead": {"cpu": "1"}},
}
"""What is said of a pod -> fields of its spec, each of which a rule of 1.36 reads."""


def test_each_field_that_a_rule_reads_tells_pods_apart():
    """No two of the variants share a template."""
    templates = engine_for("1.36", {}).templates
    found = [templates.of(pod(f"p{number}", **spec)).number for number, spec in enumerate(VARIANTS.values())]
    assert len(set(found)) == len(VARIANTS)


@pytest.mark.parametrize("first", [False, True])
def test_a_pod_is_not_judged_as_the_one_before(first):
    """A pod that needs a feature of its node finds none, and one that does not finds one, whichever comes
    first."""
    made = engine_for("1.36", {})
    EventFeed(made).put(node("a"))
    pods = [pod("plain"), pod("needing", **VARIANTS["users of the host"])]
    hosts = {one.name: made.schedule(one).host for one in (reversed(pods) if first else pods)}
    assert hosts == {"plain": "a", "needing": None}


def test_fields_that_no_rule_reads_do_not():
    """Pods on the host's network are as others, whether or not they say that they use the host's users."""
    templates = engine_for("1.36", {}).templates
    specs = [{}, {"hostNetwork": True}, {"hostUsers": False}, {"hostNetwork": True, "hostUsers": True}]
    for one, other in permutations(specs, 2):
        assert templates.of(pod("a", **one)) is templates.of(pod("b", **other))
