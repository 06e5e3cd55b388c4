"""An example for each rule: a small cluster, a configuration with this rule alone, and what a command prints about it.

The clusters are the files in ``clusters``. Each command is run when the pages are made, so that a page shows what it really prints.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import attrs
import yaml
from making.rulewords import words_of

from kubeclassic.cli import run
from kubeclassic.framework.releases import FRAMEWORK_RELEASES

CLUSTERS = Path(__file__).parent / "clusters"
SETTLED = {"COLUMNS": "110", "KUBECLASSIC_PROGRESS": "0"}
"""What the output of a command depends on besides its arguments: the terminal, and how busy the machine is."""
POLICY, PROFILE, ASK = "policy.yaml", "profile.yaml", "ask.py"
Json = dict[str, Any]

LABELS: Json = {"labelsPresence": {"labels": ["retiring"], "presence": False}}
ZONE = "failure-domain.beta.kubernetes.io/zone"
SHAPE: Json = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
CPU_AND_MEMORY: Json = {"resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]}
ARGUMENTS: Mapping[str, Json] = {
    "CheckNodeLabelPresence": LABELS,
    "CheckServiceAffinity": {"serviceAffinity": {"labels": [ZONE]}},
    "labelPreference": {"labelPreference": {"label": "retiring", "presence": False}},
    "serviceAntiAffinity": {"serviceAntiAffinity": {"label": ZONE}},
    "RequestedToCapacityRatioPriority": {"requestedToCapacityRatioArguments": SHAPE},
}
"""Rule of a Policy -> the argument in its example."""


def _asked(name: str, argument: Json) -> Json:
    return {
        "predicates": [{"name": name, "argument": argument}],
        "priorities": [{"name": "ImageLocalityPriority", "weight": 1}],
    }


def _scored(name: str, argument: Json | None = None) -> Json:
    return {
        "predicates": [],
        "priorities": [{"name": name, "weight": 1, **({"argument": argument} if argument else {})}],
    }


EXAMPLES: Mapping[str, str] = {
    rule: cluster
    for cluster, rules in {
        "avoid": "NodePreferAvoidPodsPriority",
        "cloudlimits": "MaxEBSVolumeCount MaxGCEPDVolumeCount MaxAzureDiskVolumeCount MaxCinderVolumeCount "
        "EBSLimits GCEPDLimits AzureDiskLimits CinderLimits",
        "conditions": "CheckNodeCondition CheckNodeUnschedulable CheckNodeMemoryPressure CheckNodePIDPressure CheckNodeDiskPressure "
        "NodeUnschedulable",
        "constraints": "EvenPodsSpread EvenPodsSpreadPriority PodTopologySpread",
        "csilimits": "MaxCSIVolumeCountPred NodeVolumeLimits",
        "devices": "DynamicResources",
        "disks": "NoDiskConflict VolumeRestrictions",
        "features": "NodeDeclaredFeatures",
        "images": "ImageLocalityPriority ImageLocality",
        "interpod": "MatchInterPodAffinity InterPodAffinityPriority InterPodAffinity",
        "placement": "MatchNodeSelector CheckNodeLabelPresence NodeAffinityPriority labelPreference NodeAffinity",
        "ports": "PodFitsHostPorts NodePorts",
        "queue": "DefaultBinder DefaultPreemption PrioritySort SchedulingGates",
        "resources": "GeneralPredicates PodFitsResources EqualPriority LeastRequestedPriority MostRequestedPriority "
        "BalancedResourceAllocation RequestedToCapacityRatioPriority ResourceLimitsPriority NodeResourcesFit "
        "NodeResourcesBalancedAllocation",
        "spread": "CheckServiceAffinity SelectorSpreadPriority ServiceSpreadingPriority serviceAntiAffinity SelectorSpread",
        "taints": "PodToleratesNodeTaints TaintTolerationPriority TaintToleration",
        "volumes": "CheckVolumeBinding NoVolumeZoneConflict VolumeBinding VolumeZone",
    }.items()
    for rule in rules.split()
}
"""Rule -> the cluster of its example."""
UP_TO_1_22: Mapping[str, tuple[str, str, Json]] = {
    "DefaultPodTopologySpread": ("1.18", "spread", _scored("SelectorSpreadPriority")),
    "NodeLabel": ("1.21", "placement", _asked("NoRetiringNodes", LABELS)),
    "NodePreferAvoidPods": ("1.21", "avoid", _scored("NodePreferAvoidPodsPriority")),
    "NodeResourceLimits": ("1.18", "resources", _scored("ResourceLimitsPriority")),
    "NodeResourcesLeastAllocated": ("1.21", "resources", _scored("LeastRequestedPriority")),
    "NodeResourcesMostAllocated": ("1.21", "resources", _scored("MostRequestedPriority")),
    "RequestedToCapacityRatio": (
        "1.21", "resources", _scored("ByUse", {"requestedToCapacityRatioArguments": {**SHAPE, **CPU_AND_MEMORY}}),
    ),
    "ServiceAffinity": ("1.21", "spread", _asked("InOneZone", ARGUMENTS["CheckServiceAffinity"])),
}  # fmt: skip
"""Plugin that later releases lack -> a release that has it, the cluster of its example, and the rules of a Policy that it is made of."""
NEWEST = list(FRAMEWORK_RELEASES)[-1]
GATES = {
    "EvenPodsSpread": "EvenPodsSpread=true", "EvenPodsSpreadPriority": "EvenPodsSpread=true",
    **dict.fromkeys(("ResourceLimitsPriority", "NodeResourceLimits"), "ResourceLimitsPriorityFunction=true"),
    **dict.fromkeys(("CheckNodeCondition", "CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure"),
                    "TaintNodesByCondition=false"),
}  # fmt: skip
"""Rule of a Policy -> the gates without which 1.16 does not run it."""


PINNED = '{"kind": "Pod", "metadata": {"name": "web"}, "spec": {"nodeName": "ssd-south", "containers": []}}'
IN_PYTHON: Mapping[str, tuple[str, str]] = {
    "HostName": ("placement", f'Cluster([{PINNED}]).find("pod", "web")'),
    "NodeName": ("placement", f'Cluster([{PINNED}]).find("pod", "web")'),
    "PodFitsPorts": ("ports", 'cluster.find("pod", "web")'),
    "PodToleratesNodeNoExecuteTaints": ("taints", 'cluster.find("pod", "web")'),
}
"""Rule that no command of ours reaches -> the cluster of its example, and the pod, as an expression."""
SCRIPT = """\
from kubeclassic import Cluster, Scheduler
{imports}

cluster = Cluster.load("{cluster}.yaml")
pod = {pod}
pod, nodes, cycle = Scheduler(cluster, "{release}").batch(pod)
found = {ask}(pod, nodes, cycle)
for i, fits in enumerate(found.passed):
    print(nodes.name(i), "fits" if fits else found.reasons(i)[0].text)
"""


@attrs.frozen
class Example:
    """What a page shows: the files, by name, and a command with what it prints."""

    files: Mapping[str, str]
    command: str
    pod: str | None

    def printed(self) -> str:
        """What the command prints, on both streams."""
        return self.run(self.command)[1]

    @property
    def is_script(self) -> bool:
        """Whether it asks the rule by itself, in Python."""
        return ASK in self.files

    def explained(self) -> Json:
        """The record of the decision about the pod, as ``explain -o json`` prints it."""
        found: Json = json.loads(self.run(f"{self.command} -o json")[0])
        return found

    def run(self, command: str) -> tuple[str, str]:
        """What *command* prints in a folder with the files: standard output alone, and with standard error after it."""
        out, err = io.StringIO(), io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
            patch.dict(os.environ, SETTLED),
        ):
            for name, text in self.files.items():
                Path(name).write_text(text, encoding="utf-8")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = self._status(command)
        if status not in (0, 1):
            raise ValueError(f"{command}: status {status}: {err.getvalue()}")
        return out.getvalue(), out.getvalue() + err.getvalue()

    def _status(self, command: str) -> int:
        if not self.is_script:
            return run(shlex.split(command)[1:])
        exec(compile(self.files[ASK], ASK, "exec"), {"__name__": "__main__"})
        return 0


HERE = "EXAMPLES of docs/making/examples.py"


def of_predicate(name: str) -> Example:
    """The example of the predicate *name*."""
    if name in IN_PYTHON:
        return _script(
            name, "1.16", "from kubeclassic.predicates import CATALOGUE", f'CATALOGUE["{name}"].check'
        )
    cluster = words_of(EXAMPLES, name, HERE)
    return _of_policy(
        name, cluster, {"predicates": [_entry(name)], "priorities": [{"name": "EqualPriority", "weight": 1}]}
    )


def _script(name: str, release: str, imports: str, ask: str) -> Example:
    cluster, pod = IN_PYTHON[name]
    text = SCRIPT.format(imports=imports, cluster=cluster, pod=pod, release=release, ask=ask)
    return Example({f"{cluster}.yaml": _text(cluster), ASK: text}, f"python {ASK}", None)


def of_priority(name: str) -> Example:
    """The example of the priority *name*."""
    cluster = words_of(EXAMPLES, name, HERE)
    return _of_policy(name, cluster, {"predicates": [], "priorities": [{**_entry(name), "weight": 1}]})


def _entry(name: str) -> Json:
    return {"name": name, **({"argument": ARGUMENTS[name]} if name in ARGUMENTS else {})}


def _of_policy(name: str, cluster: str, rules: Json, release: str = "1.16") -> Example:
    policy = {"kind": "Policy", "apiVersion": "v1", **rules}
    gates = f" --feature-gates {GATES[name]}" if name in GATES else ""
    command = f"kubeclassic explain {cluster}.yaml web --release {release} --policy {POLICY}{gates}"
    return Example({f"{cluster}.yaml": _text(cluster), POLICY: _yaml(policy)}, command, "web")


def of_plugin(name: str) -> Example:
    """The example of the plugin *name*."""
    if name in IN_PYTHON:
        imports = "from kubeclassic.framework.plugin import Handle\nfrom kubeclassic.framework.registry import DEFAULT_REGISTRY"
        return _script(name, "1.27", imports, f'DEFAULT_REGISTRY["{name}"](None, Handle()).filter')
    if name in UP_TO_1_22:
        release, cluster, rules = UP_TO_1_22[name]
        return _of_policy(name, cluster, rules, release)
    cluster = words_of(EXAMPLES, name, HERE)
    files = {f"{cluster}.yaml": _text(cluster), PROFILE: _yaml(_profile(name))}
    if cluster == "queue":
        return Example(files, f"kubeclassic simulate {cluster}.yaml --order queue --profile {PROFILE}", None)
    gone = name in FRAMEWORK_RELEASES[NEWEST].configuration.gone_plugins
    return Example(
        files,
        f"kubeclassic explain {cluster}.yaml web{' --release 1.27' if gone else ''} --profile {PROFILE}",
        "web",
    )


def _profile(plugin: str) -> Json:
    """A profile with *plugin* alone, and what no profile can do without."""
    needed = ["PrioritySort", "DefaultBinder"]
    room = ["NodeResourcesFit", "DefaultPreemption"] if EXAMPLES[plugin] == "queue" else []
    names = list(dict.fromkeys([*needed, *room, plugin]))
    version = "v1beta3" if plugin == "SelectorSpread" else "v1"
    plugins = {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": name} for name in names]}}
    head = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    return {**head, "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}]}


def _text(cluster: str) -> str:
    return (CLUSTERS / f"{cluster}.yaml").read_text(encoding="utf-8")


def _yaml(document: Json) -> str:
    text: str = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=110)
    return text
