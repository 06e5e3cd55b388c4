"""The kinds on which an answer depends, and the messages where they may not be listed."""

from itertools import chain

import pytest
import yaml

from kubeclassic.cli import run
from kubeclassic.live.client.api import VERSIONS, resource
from kubeclassic.live.snapshot import MissingRightError, check_rights
from tests.apiserver import NEW_SERVER, NO_FAULT, Store, User, refused, serving_store
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import ran

NEEDED = yaml.safe_load("""
nothing: [{}]
a claim:
- {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}
- [PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode, CSIDriver, CSIStorageCapacity]
an ephemeral volume:
- {volumes: [{name: v, ephemeral: {}}]}
- [PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode, CSIDriver, CSIStorageCapacity]
a device: [{resourceClaims: [{name: gpu}]}, [ResourceClaim, ResourceSlice, DeviceClass]]
a namespace:
- affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaceSelector: {}}]}}
- [Namespace]
a namespace, preferred:
- affinity:
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone, namespaceSelector: {}}}]
- [Namespace]
a priority: [{priority: 7}, [PodDisruptionBudget]]
odd shapes: [{volumes: [[], 5, x], affinity: [], resourceClaims: 0, priority: {}}]
""")


# --- Needs --------------------------------------------------------------------------------------------------

# What depends on what.


@pytest.mark.parametrize("case", NEEDED.values(), ids=list(NEEDED))
def test_by_what_pods_refer_to(case):
    """Nodes and pods are always needed; each other kind where a pod refers to it."""
    spec, *more = case
    listed = {"Pod": [{"spec": spec}], "StorageClass": [{"volumeBindingMode": "WaitForFirstConsumer"}]}
    assert {kind for kind in VERSIONS if is_needed(listed, kind)} == {"Node", "Pod", *chain(*more)}


def test_the_message():
    """The message has the permission as RBAC names it, the server's words, the role that grants it, and the
    way on without it."""
    with pytest.raises(MissingRightError) as raised:
        check_rights(
            {},
            {"PodDisruptionBudget": "no!", "Pod": "never!", "LimitRange": "x"},
            ("PodDisruptionBudget",),
            (),
        )
    assert "no right to list poddisruptionbudgets.policy, pods" in str(raised.value)
    assert "no!" in str(raised.value)
    role, way = raised.value.__notes__
    assert "kubeclassic-looker" in role
    assert way.startswith("--allow-missing PodDisruptionBudget --allow-missing Pod:")


def is_needed(listed, kind):
    """Whether *kind* has to be read."""
    try:
        check_rights(listed, {kind: "no"}, (), ())
    except MissingRightError:
        return True
    return False


def one_node():
    """A server with one node, on which a pod runs."""
    store = Store(NEW_SERVER)
    node = yaml.safe_load("""
        metadata: {name: n1}
        status:
          allocatable: {cpu: '4', memory: 8Gi, pods: '10'}
        """)
    owner = yaml.safe_load("{kind: ReplicaSet, name: r, uid: u, controller: true}")
    spec = yaml.safe_load("{nodeName: n1, containers: [{name: c, image: i}]}")
    pod = {"metadata": {"name": "p", "ownerReferences": [owner]}, "spec": spec}
    User(store).create("nodes", node)
    User(store).create("pods", pod)
    return store


LINES = """
simulate
explain default/p
compare --a 1.15 --b 1.16
capacity --pod POD
drain n1
upgrade --from 1.27 --to 1.28
replay
snapshot
"""
COMMANDS = {line.split()[0]: line.split() for line in LINES.strip().splitlines()}


# --- Commands -----------------------------------------------------------------------------------------------

# Every command with ``--kubeconfig``, against a server that refuses.


@pytest.mark.parametrize("words", COMMANDS.values(), ids=list(COMMANDS))
@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_nodes_and_pods(words, kind, tmp_path, capsys):
    """Without the right to list nodes or pods there is no answer: status 2, and the right that is
    missing."""
    status, out, err = asked(words, {kind}, tmp_path, capsys)
    assert (status, out) == (2, "")
    assert f"no right to list {resource(kind).plural}" in err
    assert "ClusterRole kubeclassic-looker" in err


@pytest.mark.parametrize(
    "name, kind, right",
    [
        ("drain", "PodDisruptionBudget", "poddisruptionbudgets.policy"),
        ("snapshot", "PodDisruptionBudget", "poddisruptionbudgets.policy"),
        ("capacity", "ResourceQuota", "resourcequotas"),
        ("capacity", "LimitRange", "limitranges"),
    ],
)
def test_what_the_command_counts(name, kind, right, tmp_path, capsys):
    """A drain has to know budgets, a capacity what bounds new pods; with ``--allow-missing`` they go on,
    with a warning."""
    status, out, err = asked(COMMANDS[name], {kind}, tmp_path, capsys)
    assert (status, out) == (2, "")
    assert f"no right to list {right}" in err
    status, out, err = asked([*COMMANDS[name], "--allow-missing", kind], {kind}, tmp_path, capsys)
    assert status in (0, 1)
    assert f"warning: {kind}: may not be listed, so it is as if there were none" in err


def test_needs_a_kubeconfig():
    """The option is about a live cluster."""
    assert "--allow-missing needs --kubeconfig" in ran("simulate", "--allow-missing", "Pod", status=2).err


def asked(words, forbidden, folder, capsys):
    """Status, output and messages of a command, on a server that lets all kinds but *forbidden* be listed."""
    plurals = {resource(kind, VERSIONS[kind][0]).plural for kind in forbidden}
    pod = folder / "pod.yaml"
    pod.write_text(
        "kind: Pod\napiVersion: v1\nmetadata: {name: x}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
    )

    def fault(request):
        return (
            refused(403, "Forbidden", "you may not")
            if request.path.rpartition("/")[2] in plurals
            else NO_FAULT
        )

    with serving_store(one_node(), faults=fault) as address:
        config = kubeconfig(folder, {"server": address})
        status = run([*(str(pod) if word == "POD" else word for word in words), "--kubeconfig", str(config)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err
