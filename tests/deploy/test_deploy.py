"""The manifests in examples/deploy: rights against calls, flags, probes, and the steps of the image."""

import configparser
import json
import re
import shlex
from itertools import product

import pytest
import yaml

from kubeclassic.algorithmprovider.policy import read_policy, resolve
from kubeclassic.algorithmprovider.releases import find_release
from kubeclassic.cli import BAD_INPUT
from kubeclassic.framework.config.configuration import load_configuration
from kubeclassic.live.client.api import VERSIONS as KINDS
from kubeclassic.live.client.api import resource
from kubeclassic.live.server.serving import Listening
from tests.conftest import ROOT
from tests.support.program import ran
from tests.support.recordings import VERSIONS, recorded
from tests.support.runflags import settings_of

DEPLOY = ROOT / "examples" / "deploy"
MANIFESTS = ("rbac.yaml", "looker.yaml", "scheduler.yaml", "extender.yaml")
"""The manifests that are tested here; those of ``current.yaml`` are in ``test_current.py``."""

LISTED = {
    "": (
        "namespaces",
        "nodes",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "replicationcontrollers",
        "services",
    ),
    "apps": ("replicasets", "statefulsets"),
    "policy": ("poddisruptionbudgets",),
    "storage.k8s.io": ("csidrivers", "csinodes", "csistoragecapacities", "storageclasses"),
}
READS = {
    (group, kind, verb) for group, kinds in LISTED.items() for kind, verb in product(kinds, ("list", "watch"))
}
WRITES = {
    ("", "pods", "get"),  # before a pod that failed is tried again
    ("", "pods", "delete"),  # victims
    ("", "pods/binding", "create"),
    ("", "pods/status", "update"),  # the condition: up to 1.16
    ("", "pods/status", "patch"),  # the condition: from 1.27
    ("", "persistentvolumes", "update"),  # binding of volumes
    ("", "persistentvolumeclaims", "update"),
    *product(("", "events.k8s.io"), ("events",), ("create", "patch")),
}
IN_NAMESPACE = {
    *(("coordination.k8s.io", "leases", verb) for verb in ("create", "get", "update")),
    ("", "configmaps", "get"),  # the Policy
}
SCENARIOS = (
    "a1-startup",
    "a2-leader",
    "b-schedule",
    "c-unschedulable",
    "c2-retries",
    "d-preemption",
    "e-volumes",
)
NOT_OURS = {
    ("", "configmaps", "list"),  # how to authenticate callers
    ("", "configmaps", "watch"),
    ("authorization.k8s.io", "subjectaccessreviews", "create"),
}


def documents(*files):
    """The manifests of some files."""
    return [item for file in files for item in yaml.safe_load_all((DEPLOY / file).read_text())]


def found(kind, name):
    """The manifest of that kind and name."""
    (item,) = [
        each for each in documents(*MANIFESTS) if each["kind"] == kind and each["metadata"]["name"] == name
    ]
    return item


def allowed(kind, name):
    """The permissions of a role."""
    return {
        call
        for rule in found(kind, name)["rules"]
        for call in product(rule["apiGroups"], rule["resources"], rule["verbs"])
    }


def calls(release):
    """The requests of kube-scheduler in the recordings, except for locks of the old kinds."""
    for scenario in SCENARIOS:
        for exchange in recorded(release, scenario):
            call = call_of(exchange) if exchange.who in ("kube-scheduler", "kube-scheduler-b") else None
            if call is not None and call[1] != "endpoints":
                yield call


def call_of(exchange):
    """The call that a request is; None for a look at what the server has."""
    match = re.fullmatch(
        r"/(?:api|apis/([^/]+))/[^/]+(?:/namespaces/[^/]+)?/([a-z]+)(?:/([^/]+)(?:/([a-z]+))?)?",
        exchange.path,
    )
    if match is None:
        return None
    group, kind, name, part = match.groups()
    reading = "watch" if "watch=true" in exchange.query else "get" if name else "list"
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(
        exchange.method, reading
    )
    return group or "", f"{kind}/{part}" if part else kind, verb


# --- Rights -------------------------------------------------------------------------------------------------


def test_the_extender_reads():
    """The extender's account may list and watch what decisions read, and nothing else."""
    assert allowed("ClusterRole", "kubeclassic-reader") == READS
    bound = [each["roleRef"]["name"] for each in bindings("kubeclassic-extender")]
    assert bound == ["kubeclassic-reader"]


def test_the_looker_reads_what_a_snapshot_has():
    """The role for looking may list and watch each kind of a snapshot, in each group that may have it,
    and do nothing else."""
    read = {(resource(kind, version), version) for kind, versions in KINDS.items() for version in versions}
    pairs = {(version.rpartition("/")[0], made.plural) for made, version in read}
    assert allowed("ClusterRole", "kubeclassic-looker") == {
        (*pair, verb) for pair in pairs for verb in ("list", "watch")
    }


def test_the_scheduler_writes_its_decisions():
    """The scheduler's account may do besides what its calls need, and nothing else."""
    assert allowed("ClusterRole", "kubeclassic-writer") == WRITES
    assert allowed("Role", "kubeclassic-scheduler") == IN_NAMESPACE
    bound = sorted(each["roleRef"]["name"] for each in bindings("kubeclassic-scheduler"))
    assert bound == ["kubeclassic-reader", "kubeclassic-scheduler", "kubeclassic-writer"]


def test_the_table_is_what_schedulers_call():
    """The recorded calls of both generations are those of the table, but for what has to do with callers."""
    made = {call for release in VERSIONS for call in calls(release)} - NOT_OURS
    assert made == READS | WRITES | IN_NAMESPACE


def test_named_objects_only():
    """Only locks and ConfigMaps with the deployment's names may be read or changed."""
    names = {
        (rule["resources"][0], verb): rule.get("resourceNames")
        for rule in found("Role", "kubeclassic-scheduler")["rules"]
        for verb in rule["verbs"]
    }
    settings = settings_of(flags())
    assert names["leases", "update"] == names["leases", "get"] == [settings.election.name]
    assert f"--policy-configmap={names['configmaps', 'get'][0]}" in flags()


def bindings(account):
    """The roles to which an account is bound."""
    bound = [item for item in documents("rbac.yaml") if item["kind"].endswith("RoleBinding")]
    return [item for item in bound if any(subject["name"] == account for subject in item["subjects"])]


def container(part):
    """The only container of a Deployment."""
    (one,) = found("Deployment", f"kubeclassic-{part}")["spec"]["template"]["spec"]["containers"]
    return dict(one)


def flags():
    """The flags of a Deployment's container that are kube-scheduler's."""
    return [
        argument for argument in container("scheduler")["args"][1:] if not argument.startswith("--release=")
    ]


# --- Deployments --------------------------------------------------------------------------------------------


def test_run_takes_the_arguments(monkeypatch):
    """`kubeclassic run` reads all of them, and ends only because this is no pod of a cluster."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert (
        "this is no pod (KUBERNETES_SERVICE_HOST is not set)"
        in ran(*container("scheduler")["args"], status=BAD_INPUT).err
    )


def test_the_policy_is_accepted():
    """The Policy in the ConfigMap is one that the release runs."""
    policy = read_policy(json.loads(found("ConfigMap", "scheduler-policy")["data"]["policy.cfg"]))
    assert "GeneralPredicates" in [rule.name for rule in policy.predicates or ()]
    resolve(find_release("1.16"), policy=policy)


@pytest.mark.parametrize("part", ["scheduler", "extender"])
def test_pods_are_reached_and_restricted(part):
    """Selectors, ports and accounts fit together, probes ask for paths that are there, and nothing runs
    as root."""
    deployment = found("Deployment", f"kubeclassic-{part}")
    service = found("Service", f"kubeclassic-{part}")
    one = container(part)
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    spec = deployment["spec"]["template"]["spec"]
    assert labels == deployment["spec"]["selector"]["matchLabels"] == service["spec"]["selector"]
    assert service["spec"]["ports"][0]["targetPort"] == one["ports"][0]["name"]
    assert found("ServiceAccount", spec["serviceAccountName"])
    assert (one["livenessProbe"]["httpGet"]["path"], one["readinessProbe"]["httpGet"]["path"]) == (
        "/livez",
        "/readyz",
    )
    assert spec["securityContext"]["runAsNonRoot"]
    assert one["securityContext"]["readOnlyRootFilesystem"]
    assert f"--port={one['ports'][0]['containerPort']}" in one["args"]


def test_the_extender_answers_its_service():
    """The server would start at that address, and answers who calls it by the Service's name; it may not
    bind."""
    arguments = container("extender")["args"]
    assert "--insecure" in arguments
    Listening(address="0.0.0.0", insecure=True).check()
    (extender,) = load_configuration(DEPLOY / "kube-scheduler-config.yaml").extenders
    assert f"--allowed-host={extender.url_prefix.removeprefix('http://')}" in arguments


def test_the_extender_has_its_kubeconfig():
    """The kubeconfig that the extender names is in its ConfigMap, at the place where that is mounted."""
    (path,) = [
        argument.partition("=")[2]
        for argument in container("extender")["args"]
        if argument.startswith("--kubeconfig=")
    ]
    folder, _, name = path.rpartition("/")
    assert folder == container("extender")["volumeMounts"][0]["mountPath"]
    assert (
        yaml.safe_load(found("ConfigMap", "kubeclassic-extender")["data"][name])["current-context"]
        == "cluster"
    )


def test_steps_name_what_is_there():
    """The image is made from the folder that the first command fills, with extras that there are, and
    needs no network."""
    text = (DEPLOY / "Containerfile").read_text()
    prepare, build = (
        shlex.split(line.removeprefix("#")) for line in text.splitlines() if line.startswith("#   ")
    )
    steps = [shlex.split(line) for line in text.splitlines() if line and not line.startswith("#")]
    ((_, source, target),) = [step for step in steps if step[0] == "COPY"]
    (install,) = [step for step in steps if step[0] == "RUN"]
    assert prepare[prepare.index("--wheel-dir") + 1] == source
    assert install[install.index("--find-links") + 1] == target
    assert "--no-index" in install
    assert (ROOT / build[build.index("--file") + 1]).is_file()
    extras = prepare[-1].removeprefix(".")
    assert install[-1] == f"kubeclassic{extras}"
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert set(extras.strip("[]").split(",")) <= set(setup["options.extras_require"])
