"""The old release and the profile on one state: what is the same, what differs, and why."""

import yaml

import kubeclassic
from kubeclassic.algorithmprovider.config import AlgorithmConfiguration
from kubeclassic.algorithmprovider.policy import read_policy
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.framework.migrate.frompolicy import migrate
from kubeclassic.framework.releases import PROFILE_RELEASE
from kubeclassic.questions.migrate.ask import POLICY, PROFILE, Migrating, agrees
from kubeclassic.simulation.simulate import Scenario
from tests.support.build import manifest, node, obj, pod, policy_of


def checked(objects, pending, changes=None, config=None, **policy):
    """A Policy on 1.16 and its profile, some of whose plugins weigh otherwise; *config*: fields of the
    component configuration."""
    written = read_policy(policy_of(**policy))
    release = RELEASES["1.16"]
    configuration = AlgorithmConfiguration(**(config or {}))
    document = migrate(written, release, configuration).document
    for plugin in document["profiles"][0]["plugins"]["score"]["enabled"]:
        plugin["weight"] = (changes or {}).get(plugin["name"], plugin["weight"])
    asked = Migrating(policy=written, config=configuration, release=release, target=PROFILE_RELEASE)
    return asked.checked(Scenario(tuple(objects), tuple(pending)), asked.engines(document))


def verdicts(found):
    """(verdict, old host, new host) of each cycle that is not the same, in order."""
    return [
        (one.causes[PROFILE].verdict, one.decisions[POLICY].host, one.decisions[PROFILE].host)
        for one in found.differences
    ]


def test_the_old_release_leads():
    """The profile judges on the state that the old release's decisions lead to."""
    found = checked([node("a", "1"), node("b", "1")], [pod(f"p{i}", "600m") for i in range(3)])
    assert found.mode == "locked"
    agreement = found.agreements[PROFILE].record()
    assert (agreement.decisions, agreement.same) == (3, 3)
    assert {key: one.host for key, one in found.sides[0].simulation.outcomes.items()} == {
        "default/p0": "a",
        "default/p1": "b",
        "default/p2": None,
    }
    assert agrees(found)


def test_every_node_is_looked_at():
    """However few nodes the configuration looks for, the check looks at all, on both sides."""
    found = checked([node(f"n{i:03}") for i in range(150)], [pod("p")], config={"percentage": 1})
    assert found.agreements[PROFILE].counts["same_feasible"] == 1


def test_the_old_server_admits():
    """New pods are admitted as by the API server of the old release."""
    runc = manifest("RuntimeClass", "runc", apiVersion="node.k8s.io/v1", handler="runc")
    spec = {"containers": [{"name": "c"}], "runtimeClassName": "runc", "overhead": {"cpu": "1"}}
    cluster = [node("a"), runc, manifest("Pod", "p", apiVersion="v1", spec=spec)]
    found = kubeclassic.migrate(policy_of(), "1.16", check=cluster)
    assert found.comparison.document.pods == 1


def test_a_predicate_that_is_gone():
    """Where the old release turns the other node down, its predicate and reason are told."""
    objects = [node(name, labels={"region": "x"}) for name in "ac"]
    objects.append(node("b", "64", "128Gi", labels={"region": "y"}))
    service = manifest("Service", "s", apiVersion="v1", spec={"selector": {"app": "web"}})
    objects += [obj(service), pod("there", on="a", app="web")]
    predicates = [{"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["region"]}}}]
    priorities = [{"name": "LeastRequestedPriority", "weight": 1}]
    found = checked(objects, [pod("new", app="web")], predicates=predicates, priorities=priorities)
    assert verdicts(found) == [("different", "a", "b")]
    cause = found.differences[0].causes[PROFILE]
    assert (cause.kind, cause.rule, cause.side, cause.node) == (
        "predicate",
        "CheckServiceAffinity",
        POLICY,
        "b",
    )
    assert cause.text == "node(s) didn't match service affinity"
    assert not agrees(found)


def test_a_score_that_tips():
    """Where both nodes fit, the rule that tipped it is told, and by how much on either side."""
    objects = [*(node(name, "8", "16Gi") for name in "abc")]
    objects += [pod(f"on-{name}", "4", requests={"memory": "8Gi"}, on=name) for name in "ab"]
    objects.append(pod("on-c", "7", requests={"memory": "1Gi"}, on="c"))
    entries = yaml.safe_load("""
        - {name: LeastRequestedPriority, weight: 1}
        - {name: BalancedResourceAllocation, weight: 1}
        """)
    pending = [pod("p", "1m", requests={"memory": "1Mi"})]
    assert agrees(checked(objects, pending, priorities=entries))
    found = checked(
        objects, pending, {"NodeResourcesBalancedAllocation": 1, "NodeResourcesFit": 90}, priorities=entries
    )
    assert verdicts(found) == [("different", "a", "c")]
    cause = found.differences[0].causes[PROFILE]
    assert (cause.kind, cause.rule) == ("score", "NodeResourcesFit")
    assert (
        cause.text == "profile prefers c to a by 270 of 9,000 points; policy prefers c to a by 1 of 10 points"
    )


def test_another_of_the_best():
    """Where the old release's coarser scores hold both nodes equal the decision is equally good: neither
    the same nor different."""
    objects = [node("a"), node("b"), pod("o", "100m", on="a")]
    found = checked(objects, [pod("p", "100m")], priorities=[{"name": "LeastRequestedPriority", "weight": 1}])
    assert verdicts(found) == [("equally good", "a", "b")]
    assert agrees(found)


def test_those_that_preempt():
    """An evicted pod leaves both sides, the preemptor waits on both, and its retry is compared too."""
    objects = [node("a", "1"), pod("low", "800m", on="a", priority=0)]
    found = checked(objects, [pod("high", "800m", priority=10)])
    assert (found.cycles, found.differences) == (2, [])
    for one in found.sides:
        assert one.simulation.evicted == {"default/low": "default/high"}
        assert one.simulation.outcomes["default/high"].host == "a"


def test_without_preemption():
    """Where the configuration disables preemption neither side makes room."""
    objects = [node("a", "1"), pod("low", "800m", on="a", priority=0)]
    found = checked(objects, [pod("high", "800m", priority=10)], config={"disable_preemption": True})
    assert (found.cycles, found.differences) == (1, [])
    assert [one.simulation.evicted for one in found.sides] == [{}, {}]
