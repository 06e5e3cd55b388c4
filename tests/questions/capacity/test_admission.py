"""Quotas and limit ranges stop copies and complete them, as the API server's admission does."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import capacity
from tests.support import manifests
from tests.support.keywords import keywords_of
from tests.support.manifests import manifest

NODE = manifest("Node", "a", status={"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "100"}})


def pod(name="web", requests=None, **more):
    """A pod's manifest; *requests* come before its other fields."""
    return manifests.pod(name, requests=requests, **more)


def quota(*, namespace="default", status=None, scopes=(), **hard):
    """A ResourceQuota named compute; *hard* with underscores in place of dots and dashes."""
    expressions = hard.pop("expressions", None)
    spec = {"hard": {key.replace("_", "."): value for key, value in hard.items()}, "scopes": scopes}
    spec |= {"scopeSelector": {"matchExpressions": expressions}} if expressions else {}
    return manifest("ResourceQuota", "compute", namespace=namespace, spec=spec, status=status or {})


def named_quota(hard, name="q"):
    """A ResourceQuota with these names of resources."""
    return manifest("ResourceQuota", name, spec={"hard": hard})


DONE = pod("done", nodeName="a", status={"phase": "Succeeded"})


def limit_range(*items):
    """A LimitRange."""
    return manifest("LimitRange", "bounds", spec={"limits": list(items)})


def asked(*objects, template=None, **options):
    """The number of copies that fit into a big node beside *objects*."""
    wanted = template or pod(requests={"cpu": "1", "memory": "1Gi"})
    return capacity([NODE, *objects], wanted, **keywords_of(options, "preemption"), pods=20)


# --- Quotas -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hard, fits, told",
    [
        ({"pods": "4"}, 4, "requested: pods=1, used: pods=4, limited: pods=4"),
        (
            {"requests_cpu": "2500m"},
            2,
            "requested: requests.cpu=1, used: requests.cpu=2, limited: requests.cpu=2500m",
        ),
        ({"cpu": "3", "memory": "2Gi"}, 2, "requested: memory=1Gi, used: memory=2Gi, limited: memory=2Gi"),
        (
            {"pods": "2", "requests_memory": "2Gi"},
            2,
            "requested: pods=1,requests.memory=1Gi, used: pods=2,requests.memory=2Gi",
        ),
    ],
)
def test_copies_stop_at_a_quota(hard, fits, told):
    """The copy that would exceed a quota is refused in the API server's words, and those before it count."""
    found = asked(quota(**hard))
    assert (found.fits, found.stop.kind) == (fits, "Forbidden")
    assert found.stop.message.startswith(f'pods "web-{fits}" is forbidden: exceeded quota: compute, {told}')


@pytest.mark.parametrize(
    "objects, fits",
    [
        # count/pods counts pods that have finished too
        ([named_quota({"count/pods": "3", "pods": "3"}), DONE], 2),
        ([quota(pods="3"), DONE], 3),
        # what pods of the cluster request is used already, on a node or waiting, in this namespace
        (
            [
                quota(requests_cpu="5"),
                pod("there", {"cpu": "1"}, nodeName="a"),
                pod("waits", {"cpu": "500m"}),
                pod("far", {"cpu": "9"}, metadata={"namespace": "far"}),
            ],
            3,
        ),
        # where the quota says what is used, and what its bounds are, that counts
        ([quota(pods="4", status={"hard": {"pods": "9"}, "used": {"pods": "2"}})], 7),
        # a quota of another namespace, or of what pods do not use, stops none
        ([quota(pods="1", namespace="far")], 20),
        ([quota(services="0", configmaps="0")], 20),
    ],
)
def test_what_is_used(objects, fits):
    """A quota stops copies by what is used of it: as its status says, else as pods of its namespace use
    it."""
    assert asked(*objects).fits == fits


@pytest.mark.parametrize(
    "hard, missing",
    [
        ({"limits_cpu": "4"}, "limits.cpu"),
        ({"limits_cpu": "4", "limits_memory": "4Gi"}, "limits.cpu,limits.memory"),
    ],
)
def test_amounts_are_required(hard, missing):
    """With a bound on cpu or memory each container has to say how much it is."""
    found = asked(quota(**hard))
    assert (found.fits, found.stop.message) == (
        0,
        f'pods "web-0" is forbidden: failed quota: compute: must specify {missing}',
    )


def test_extended_resources():
    """Devices are bounded by what is requested of them."""
    node = manifest("Node", "g", status={"allocatable": {"cpu": "8", "pods": "9", "example.com/gpu": "8"}})
    bound = named_quota({"requests.example.com/gpu": "3"})
    assert (
        asked(
            node, bound, template=pod(requests={"example.com/gpu": "1"}, limits={"example.com/gpu": "1"})
        ).fits
        == 3
    )


@pytest.mark.parametrize("placed", [{"nodeName": "a"}, {}])
def test_victims_give_back(placed):
    """With preemption a pod that has to leave uses its quota no more, one that waited before neither."""
    small = manifest("Node", "a", status={"allocatable": {"cpu": "2", "pods": "9"}})
    low = pod("low", {"cpu": "2"}, priority=-1, **placed)
    cluster = [small, low, quota(pods="2")]
    found = capacity(cluster, pod(requests={"cpu": "1"}), preemption=True, pending_first=True)
    assert (found.fits, found.stop.kind) == (2, "Forbidden")


TEMPLATES = {
    "burst": pod(requests={"cpu": "1"}),
    "best effort": pod(),
    "short": pod(requests={"cpu": "1"}, activeDeadlineSeconds=60),
    "high": pod(
        requests={"cpu": "1"}, priorityClassName="system-node-critical", metadata={"namespace": "default"}
    ),
    "elsewhere": pod(
        requests={"cpu": "1"},
        affinity=yaml.safe_load("""
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 1
            podAffinityTerm:
              topologyKey: x
              namespaces: [far]
              labelSelector: {}
        """),
    ),
}


@pytest.mark.parametrize(
    "scope, counted",
    [
        ({"scopes": ["BestEffort"]}, {"best effort"}),
        ({"scopes": ["NotBestEffort"]}, {"burst", "short", "high", "elsewhere"}),
        ({"scopes": ["Terminating"]}, {"short"}),
        ({"scopes": ["NotTerminating"]}, {"burst", "best effort", "high", "elsewhere"}),
        ({"scopes": ["PriorityClass"]}, {"high"}),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {"elsewhere"}),
        ({"scopes": ["NotBestEffort", "NotTerminating"]}, {"burst", "high", "elsewhere"}),
        ({"scopes": ["Unheard"]}, set()),
        (
            yaml.safe_load("""
                expressions:
                - scopeName: PriorityClass
                  operator: In
                  values: [system-node-critical]
                """),
            {"high"},
        ),
        (yaml.safe_load("{expressions: [{scopeName: PriorityClass, operator: In, values: [other]}]}"), set()),
        (
            yaml.safe_load("""
                expressions:
                - scopeName: PriorityClass
                  operator: NotIn
                  values: [system-node-critical]
                """),
            {"burst", "best effort", "short", "elsewhere"},
        ),
        (
            {"expressions": [{"scopeName": "PriorityClass", "operator": "DoesNotExist"}]},
            {"burst", "best effort", "short", "elsewhere"},
        ),
    ],
)
def test_a_quota_counts_the_pods_of_its_scopes(scope, counted):
    """Only pods that all scopes match are counted, and stopped."""
    stopped = {
        name
        for name, template in TEMPLATES.items()
        if asked(quota(pods="0", **scope), template=template).fits == 0
    }
    assert stopped == counted


# --- Limit ranges -------------------------------------------------------------------------------------------


def test_defaults():
    """Containers that say nothing get requests and limits, which then count on nodes and for quotas; what
    is said stays."""
    bounds = limit_range({"type": "Container", "default": {"cpu": "10"}, "defaultRequest": {"cpu": "8"}})
    found = asked(bounds, template=pod())
    assert (found.fits, found.stop.message) == (8, "0/1 nodes are available: 1 Insufficient cpu.")
    assert asked(bounds, quota(limits_cpu="35"), template=pod()).fits == 3
    assert asked(bounds, template=pod(requests={"cpu": "1"})).fits == 20


@pytest.mark.parametrize(
    "item, request_",
    [
        ("max: {cpu: '4'}", 4),
        ("default: {cpu: '4'}", 4),
        ("min: {cpu: '2'}", 2),
        ("{max: {cpu: '8'}, default: {cpu: '4'}, min: {cpu: '1'}}", 4),
    ],
)
def test_defaults_of_the_limit_range(item, request_):
    """A LimitRange without defaults has them from its bounds, as the API server fills in."""
    assert (
        asked(limit_range({"type": "Container", **yaml.safe_load(item)}), template=pod())
        .counted.placed[0]
        .requests["cpu"]
        == request_ * 1000
    )


@pytest.mark.parametrize(
    "item, template, told",
    [
        (
            "{type: Container, max: {cpu: '2'}}",
            pod(limits={"cpu": "3"}),
            "maximum cpu usage per Container is 2, but limit is 3",
        ),
        (
            "{type: Container, min: {cpu: '2'}}",
            pod(requests={"cpu": "1"}),
            "minimum cpu usage per Container is 2, but request is 1",
        ),
        (
            "{type: Pod, max: {cpu: '2'}}",
            pod(requests={"cpu": "1"}),
            "maximum cpu usage per Pod is 2.  No limit is specified",
        ),
        (
            "{type: Pod, min: {memory: 1Gi}}",
            pod(),
            "minimum memory usage per Pod is 1Gi.  No request is specified",
        ),
        (
            "{type: Container, maxLimitRequestRatio: {cpu: '2'}}",
            pod(requests={"cpu": "1"}, limits={"cpu": "3"}),
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            "{type: Container, maxLimitRequestRatio: {cpu: '2'}}",
            pod(requests={"cpu": "1"}),
            "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
        ),
        (
            "{type: Pod, max: {cpu: '1', memory: 1Gi}}",
            pod(limits={"cpu": "2", "memory": "2Gi"}),
            "[maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 1Gi, but limit is 2Gi]",
        ),
    ],
)
def test_out_of_bounds(item, template, told):
    """A pod out of bounds is refused in the API server's words."""
    found = asked(limit_range(yaml.safe_load(item)), template=template)
    assert (found.fits, found.stop.kind, found.stop.message) == (
        0,
        "Forbidden",
        f'pods "web-0" is forbidden: {told}',
    )


def test_init_containers():
    """The bound of a pod looks at the greatest init container too."""
    template = pod(
        limits={"cpu": "1"}, initContainers=yaml.safe_load("[{name: i, resources: {limits: {cpu: '5'}}}]")
    )
    assert asked(limit_range({"type": "Pod", "max": {"cpu": "4"}}), template=template).fits == 0


def test_without_defaults():
    """Without defaults no admission applies, as objects are taken as they are."""
    assert (
        asked(limit_range({"type": "Container", "max": {"cpu": "1"}}), quota(pods="1"), defaults=False).fits
        == 20
    )


def test_an_unknown_priority_class():
    """A template that the API server refuses for its PriorityClass has no copies."""
    found = asked(template=pod(priorityClassName="gold"))
    assert (found.fits, found.stop.message) == (
        0,
        'pods "web-0" is forbidden: no PriorityClass with name gold was found',
    )


AMOUNTS = st.fixed_dictionaries({name: st.integers(1, 5) for name in ("cpu", "memory")})


@given(
    request_=AMOUNTS,
    init=st.none() | AMOUNTS,
    there=st.lists(AMOUNTS, max_size=3),
    quotas=st.lists(
        st.dictionaries(
            st.sampled_from(["pods", "count/pods", "cpu", "memory", "requests.cpu", "requests.memory"]),
            st.integers(0, 40),
        ),
        max_size=3,
    ),
)
def test_quotas_against_arithmetic(request_, init, there, quotas):
    """The tightest quota, less the usage of the cluster's pods, limits the copies that are admitted."""
    more = {"initContainers": [{"name": "i", "resources": {"requests": init}}]} if init else {}
    bound = [pod(f"there-{at}", amounts, nodeName="a") for at, amounts in enumerate(there)]
    known = [
        named_quota({name: str(number) for name, number in hard.items()}, f"q{at}")
        for at, hard in enumerate(quotas)
    ]
    room = [
        (number - sum(1 if name.endswith("pods") else used[name.split(".")[-1]] for used in there))
        // (
            1
            if name.endswith("pods")
            else max(request_[name.split(".")[-1]], (init or {}).get(name.split(".")[-1], 0))
        )
        for hard in quotas
        for name, number in hard.items()
    ]
    wanted = max(min([20, *room]), 0)
    large = manifest("Node", "b", status={"allocatable": {"cpu": "900", "memory": "900Gi", "pods": "900"}})
    assert asked(large, *bound, *known, template=pod(requests=request_, **more)).fits == wanted


class TestClaims:
    CLAIM = yaml.safe_load("""
    metadata: {name: data}
    spec:
      resources:
        requests: {storage: 2Gi}
      storageClassName: fast
    """)

    def asked(self, hard, *objects, claims=1):
        """A StatefulSet with *claims* for each copy, beside a quota."""
        template = {"metadata": {"labels": {"app": "db"}}, "spec": pod()["spec"]}
        spec = {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "db"}},
            "template": template,
            "volumeClaimTemplates": [self.CLAIM, {**self.CLAIM, "metadata": {"name": "log"}}][:claims],
        }
        fast = manifest("StorageClass", "fast", provisioner="x/y", volumeBindingMode="WaitForFirstConsumer")
        bound = named_quota(hard)
        database = manifest("StatefulSet", "db", spec=spec)
        return asked(fast, bound, *objects, template=database, release="1.27")

    @pytest.mark.parametrize(
        "hard",
        [
            {"persistentvolumeclaims": "3"},
            {"count/persistentvolumeclaims": "3"},
            {"requests.storage": "7Gi"},
            {"fast.storageclass.storage.k8s.io/requests.storage": "6Gi"},
            {"fast.storageclass.storage.k8s.io/persistentvolumeclaims": "3"},
        ],
    )
    def test_quotas_of_claims(self, hard):
        """A quota on claims or storage stops the copy whose claim would exceed it."""
        found = self.asked(hard)
        assert found.fits == 3
        assert found.stop.message.startswith(
            'persistentvolumeclaims "data-db-3" is forbidden: exceeded quota: q, requested: '
        )

    def test_claims_of_the_cluster(self):
        """Claims that are there use the quota, also those of other owners."""
        there = manifest(
            "PersistentVolumeClaim", "other", spec={"resources": {"requests": {"storage": "3Gi"}}}
        )
        assert self.asked({"requests.storage": "7Gi"}, there).fits == 2

    def test_a_claim_that_is_there_counts_once(self):
        """A copy uses a claim that its StatefulSet left behind; the quota knows of it."""
        left = manifest("PersistentVolumeClaim", "data-db-0", spec={"volumeName": "gone"})
        assert self.asked({"persistentvolumeclaims": "1"}, left).stop.kind == "Unschedulable"

    def test_claims_of_one_copy_count_together(self):
        """The claims of a copy have to fit beside each other."""
        assert self.asked({"persistentvolumeclaims": "3"}, claims=2).fits == 1

    def test_claims_of_ephemeral_volumes(self):
        """The claims of generic ephemeral volumes count, and LimitRanges bound them."""
        fast = manifest("StorageClass", "fast", provisioner="x/y", volumeBindingMode="WaitForFirstConsumer")
        volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": self.CLAIM["spec"]}}}
        template = pod(volumes=[volume])
        found = asked(fast, named_quota({"persistentvolumeclaims": "2"}), template=template, release="1.34")
        assert (found.fits, found.stop.kind) == (2, "Forbidden")
        bounds = limit_range({"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}})
        found = asked(fast, bounds, template=template, release="1.34")
        assert (found.fits, found.stop.kind) == (0, "Unschedulable")

    def test_other_classes(self):
        """A bound on another class stops nobody."""
        assert self.asked({"slow.storageclass.storage.k8s.io/persistentvolumeclaims": "0"}).fits == 20


def test_pods_on_excluded_nodes_use_quotas():
    """Excluded nodes are out of the count, but the pods on them are there for quotas."""
    node = manifest("Node", "b", status={"allocatable": {"cpu": "4", "pods": "9"}})
    assert asked(node, quota(pods="3"), pod("there", nodeName="b"), exclude_nodes="b").fits == 2
