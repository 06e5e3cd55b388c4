"""Templates: pods that some rule can tell apart do not share one."""

import pickle
from itertools import permutations

import pytest
import yaml

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.pods import resized
from kubeclassic.core.pods.template import CycleState, StateKey, Templates, claim_keys
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod

REQUIRED = yaml.safe_load("""
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions: []
""")
RESTARTS = yaml.safe_load("[{action: RestartAllContainers, exitCodes: {operator: In, values: [1]}}]")
TOLERATION = {"key": "k", "operator": "Gt", "value": "1"}
VARIANTS = {
    "plain": {},
    "users of the host": {"hostNetwork": True, "hostUsers": False},
    "selector": {"nodeSelector": {"disk": "ssd"}},
    "affinity": {"affinity": REQUIRED},
    "toleration": {"tolerations": [TOLERATION]},
    "another": {"tolerations": [{**TOLERATION, "value": "2"}]},
    "image": yaml.safe_load("{volumes: [{name: v, image: {reference: big}}]}"),
    "emptyDir": yaml.safe_load("{volumes: [{name: v, emptyDir: {}}]}"),
    "gate": {"schedulingGates": [{"name": "g"}]},
    "restarts": {"containers": [{"name": "c", "image": "i", "restartPolicyRules": RESTARTS}]},
    "requests": {"resources": {"requests": {"cpu": "1"}}},
    "overhead": {"overhead": {"cpu": "1"}},
}
"""Description of a pod -> fields of its spec, each of which a rule of 1.36 reads."""


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


# --- Which claims a pod's volumes have ----------------------------------------------------------------------


VOLUMES = yaml.safe_load("""
- name: a
  persistentVolumeClaim: {claimName: c}
- name: b
  ephemeral:
    volumeClaimTemplate:
      spec: {}
""")


def test_ephemeral_volumes_have_claims_where_they_count():
    """Their claims are named for pod and volume; releases that do not know of them see the named claims
    alone."""
    assert claim_keys(pod("p", volumes=VOLUMES)) == ("default/c",)
    assert claim_keys(pod("p", volumes=VOLUMES), ephemeral=True) == ("default/c", "default/p-b")


def test_pods_with_ephemeral_volumes_are_classes_of_their_own():
    """The needs of such a pod depend on its name; pods with only named claims share a template."""
    templates = Templates(RELEASES["1.16"], {})
    one, other = (templates.of(pod(name, volumes=VOLUMES)) for name in "xy")
    assert one is not other
    one, other = (templates.of(pod(name, volumes=VOLUMES[:1])) for name in "xy")
    assert one is other


NAMELESS = yaml.safe_load("""
    - projected:
        sources: []
    - emptyDir: {}
    - configMap: {name: c}
    - secret: {secretName: s}
    - hostPath: {path: /x}
    - downwardAPI:
        items: []
    - persistentVolumeClaim: {claimName: c}
    """)


@pytest.mark.parametrize("source", NAMELESS, ids=lambda source: next(iter(source)))
def test_the_name_of_a_volume_tells_no_pods_apart(source):
    """Admission names each pod's token volume differently, and no rule reads it."""
    templates = Templates(RELEASES["1.16"], {})
    one, other = (templates.of(pod(name, volumes=[{"name": name, **source}])) for name in "xy")
    assert one is other


def test_what_rules_read_does():
    """Disks, claims and drivers' volumes, and whether there is any volume, which a score of some releases
    asks."""
    templates = Templates(RELEASES["1.16"], {})
    sources = [{"gcePersistentDisk": {"pdName": name}} for name in "ab"] + [
        {"csi": {"driver": "d"}},
        NAMELESS[-1],
        NAMELESS[0],
    ]
    pods = [pod("p"), *[pod("p", volumes=[{"name": "v", **source}]) for source in sources]]
    assert len({templates.of(each) for each in pods}) == len(pods)


# --- Notes: a dict in which slots are keys of their own, and which a copy leaves out of templates -----------


PORTS = StateKey("ports")


def test_slots_of_one_name_do_not_meet():
    """A slot is only equal to itself."""
    other = StateKey("ports")
    notes = CycleState()
    notes[PORTS] = 1
    notes[other] = 2
    assert (notes[PORTS], notes[other], len(notes)) == (1, 2, 2)
    assert other != PORTS


def test_no_python_call():
    """A slot is hashed and compared as an object is."""
    assert StateKey.__hash__ is object.__hash__
    assert StateKey.__eq__ is object.__eq__


def test_a_slot_that_is_pickled_with_its_owner_stays_the_key():
    """The notes of a cycle in a copy are found by the plugin that is in it too; a slot of a module is another
    one."""
    notes = CycleState()
    notes[PORTS] = 1
    owned, found = pickle.loads(pickle.dumps((PORTS, notes)))
    assert (found.get(owned), found.get(PORTS)) == (1, None)


def test_a_copy_leaves_notes_out():
    """A template that was pickled starts with empty notes."""
    template = Templates(RELEASES["1.16"], {}).of(pod("a"))
    template.notes[PORTS] = 1
    assert pickle.loads(pickle.dumps(template)).notes == {}


# --- Which requests of a pod count while it is resized in place, by example and against a naive choice ------


ON = {"InPlacePodVerticalScaling": True}
RULES = {"1.31": resized.by_allocated, "1.32": resized.by_reported, "1.33": resized.by_reported_and_allocated}


def running(status, *, sidecar=None):
    """A pod of one container that asks for this cpu, with a status, and a sidecar of 100m with one."""
    first = (
        []
        if sidecar is None
        else yaml.safe_load("[{name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}}]")
    )
    states = {
        "containerStatuses": [{"name": "c", "ready": True, **status}],
        "initContainerStatuses": [{"name": "s", **(sidecar or {})}],
    }
    return pod("p", on="n", cpu="1", initContainers=first, status={"phase": "Running", **states})


def reported(cpu):
    return {"resources": {"requests": {"cpu": cpu}}}


def test_without_resources_nothing_changes():
    """From 1.32 on a status without resources is not read, even with allocatedResources."""
    new = running({"allocatedResources": {"cpu": "7"}})
    assert resized.by_reported(new, ON) is new
    assert resized.by_reported_and_allocated(new, ON) is new


def test_sidecars():
    """From 1.33 on sidecars are resized too."""
    new = running(reported("1"), sidecar=reported("3"))
    assert (
        resized.by_reported_and_allocated(new, ON).spec.init_containers[0].requests["cpu"].milli_value()
        == 3000
    )
    assert resized.by_reported(new, ON) is new


@pytest.mark.parametrize("release", RULES)
def test_without_the_gate(release):
    """The spec counts."""
    new = running({**reported("7"), "allocatedResources": {"cpu": "7"}})
    assert RULES[release](new, {}) is new


def test_a_pod_that_is_not_resized_is_like_others():
    """A status that says what the spec says, in other words, makes no other template."""
    templates = Templates(ALL_RELEASES["1.33"], ON)
    plain = running({})
    same = running({**reported("1000m"), "allocatedResources": {"cpu": "1000m"}})
    assert templates.entry(plain).template is templates.entry(same).template


def test_a_resized_pod_counts_its_status_on_a_node_alone():
    """The status counts for the pod on a node, and for the balance of resources; the spec counts for its own
    fit and in NodeResourcesFit's score."""
    templates = Templates(ALL_RELEASES["1.33"], ON)
    found = templates.entry(running(reported("3"))).template
    assert (found.footprint, found.nonzero_footprint[0]) == ({"cpu": 3000}, 3000)
    assert (found.requests, found.nonzero[0]) == ({"cpu": 1000}, 1000)
