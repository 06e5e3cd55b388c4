"""What rules calculate, as formulas.

In formulas ``node.x`` and ``pod.x`` are fields as in manifests, ``requested`` is what the pods of a node request together with the pod that
is scheduled, and a division is cut to a whole number where it says ``whole``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

_COUNT = "turned down if  disks(pods of the node and the pod) > limit(node)\ndisks: distinct disks of this type, also those behind claims"
_COUNT_27 = f"Filter: {_COUNT}\nnodes with a CSINode for it have no limit"
_LEAST = (
    "score(resource) = whole((allocatable - requested) x {top} / allocatable), 0 if requested > allocatable"
)
_MOST = "score(resource) = whole(requested x {top} / allocatable), 0 if requested > allocatable"
_UP, _DOWN = "score = whole({top} x raw / highest raw)", "score = {top} - whole({top} x raw / highest raw)"
_SPREAD = """\
raw(node) = number of the pod's peers there: pods of its services and controllers
on node   = {top} x (highest raw - raw) / highest raw
in zone   = the same with the sums over zones
score     = whole(on node / 3 + in zone x 2 / 3), or on node alone where nodes have no zone"""
_ROOM = """\
turned down if  pods of the node + 1 > allocatable pods
            or  requested > allocatable, for any resource that the pod requests"""
_CONDITION = "turned down if  condition {0} is True"

T = TypeVar("T")


class MissingWordsError(Exception):
    """A rule has no formula, or no example: the message says where it is to be written."""


def words_of(table: Mapping[str, T], name: str, place: str) -> T:
    """What *table*, which is *place*, has for the rule *name*. Raises :class:`MissingWordsError`."""
    if name not in table:
        raise MissingWordsError(
            f'{name} has no entry in {place}: its page needs one (CONTRIBUTING.md, "Add a predicate", step 5)'
        )
    return table[name]


FORMULAS: Mapping[str, str] = {
    # --- predicates
    "CheckNodeCondition": "turned down if  condition Ready is not True, or NetworkUnavailable is not False\n"
    "            or  spec.unschedulable\na condition that is missing is no objection",
    "CheckNodeUnschedulable": "turned down if  spec.unschedulable, and the pod does not tolerate\n"
    "                node.kubernetes.io/unschedulable:NoSchedule",
    "GeneralPredicates": "turned down if  PodFitsResources, HostName, PodFitsHostPorts or MatchNodeSelector turns it down",
    "HostName": "turned down if  pod.spec.nodeName is set, and is not the node's name",
    "PodFitsHostPorts": "turned down if  a port (IP, protocol, hostPort) of the pod is taken on the node\nIP 0.0.0.0 meets every IP",
    "PodFitsPorts": "as PodFitsHostPorts",
    "MatchNodeSelector": "turned down if  a label of pod.spec.nodeSelector is another on the node\n"
    "            or  none of the required nodeSelectorTerms matches",
    "PodFitsResources": _ROOM,
    "NoDiskConflict": "turned down if  a pod of the node uses the same GCE disk, EBS volume, iSCSI target or RBD image\n"
    "and not both of them only read; an EBS volume has one user even so",
    "PodToleratesNodeTaints": "turned down if  a taint with effect NoSchedule or NoExecute is not tolerated",
    "PodToleratesNodeNoExecuteTaints": "turned down if  a taint with effect NoExecute is not tolerated",
    "CheckNodeLabelPresence": "turned down if  presence is true and a label is missing\n"
    "            or  presence is false and a label is there",
    "CheckServiceAffinity": "turned down if  a label of the list is another than the pod's node selector says\n"
    "            or, if that says nothing, another than on the node of the service's first pod",
    **dict.fromkeys(
        ("MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "MaxCinderVolumeCount"),
        _COUNT,
    ),
    "MaxCSIVolumeCountPred": "for each CSI driver of the pod's volumes:\n"
    "turned down if  volumes of the driver(pods of the node and the pod) > limit of the node for the driver",
    "CheckVolumeBinding": "turned down if  the node affinity of a bound volume does not match\n"
    "            or  an unbound claim finds no volume there and none can be made there",
    "NoVolumeZoneConflict": "turned down if  a zone or region label of a bound volume has no value that the node has\n"
    "nodes without any such label always fit",
    "CheckNodeMemoryPressure": f"{_CONDITION.format('MemoryPressure')}, and the pod is BestEffort",
    "CheckNodePIDPressure": _CONDITION.format("PIDPressure"),
    "CheckNodeDiskPressure": _CONDITION.format("DiskPressure"),
    "EvenPodsSpread": "for each constraint with DoNotSchedule:\nturned down if  the node lacks the topology key\n"
    "            or  peers(domain of the node) + 1 - fewest peers of a domain > maxSkew",
    "MatchInterPodAffinity": "turned down if  a pod in the node's domain has a required anti-affinity term that matches the pod\n"
    "            or  a required affinity term of the pod matches no pod in the node's domain\n"
    "            or  a required anti-affinity term of the pod matches a pod in the node's domain\n"
    "the first pod of a group that requires itself may go anywhere",
    # --- priorities
    "SelectorSpreadPriority": _SPREAD.format(top=10),
    "ServiceSpreadingPriority": _SPREAD.format(top=10),
    "InterPodAffinityPriority": "raw(node) = sum of the weights of preferred terms that match in its domains; anti-affinity counts below 0\n"
    "score     = whole(10 x (raw - lowest) / (highest - lowest)), where 0 is among lowest and highest",
    "LeastRequestedPriority": f"{_LEAST.format(top=10)}\nscore = whole((score(cpu) + score(memory)) / 2)",
    "MostRequestedPriority": f"{_MOST.format(top=10)}\nscore = whole((score(cpu) + score(memory)) / 2)",
    "BalancedResourceAllocation": "share(resource) = requested / allocatable\n"
    "score = whole(10 x (1 - |share(cpu) - share(memory)|)), 0 if a share is 1 or more",
    "RequestedToCapacityRatioPriority": "utilization(resource) = 100 - whole(100 x (allocatable - requested) / allocatable)\n"
    "score(resource) = the height of the Policy's broken line at this utilization\nscore = their mean",
    "NodePreferAvoidPodsPriority": "score = 0 if the node's annotation names the pod's controller, else 10\n"
    "its default weight is 10000, so that it decides alone",
    "NodeAffinityPriority": f"raw(node) = sum of the weights of the preferred terms that match\n{_UP.format(top=10)}",
    "TaintTolerationPriority": f"raw(node) = number of taints with effect PreferNoSchedule that are not tolerated\n{_DOWN.format(top=10)}",
    "ImageLocalityPriority": "sum   = size of each image that the node has x nodes with the image / all nodes\n"
    "score = whole(10 x (sum - 23 MiB) / (1000 MiB - 23 MiB)), with sum kept between these two",
    "ResourceLimitsPriority": "score = 1 if the pod's limit of cpu or memory is at most what the node has, else 0",
    "EvenPodsSpreadPriority": "raw(node) = peers in the node's domains, for each constraint with ScheduleAnyway\n"
    "score     = whole(10 x (total - raw) / (total - lowest)); total: raw of all nodes together",
    "EqualPriority": "score = 1",
    "labelPreference": "score = 10 if the node has the label (presence: true), or lacks it (presence: false), else 0",
    "serviceAntiAffinity": "score = whole(10 x (pods of the service - those on nodes with the same value) / pods of the service)\n"
    "a node without the label scores 0",
    # --- plugins
    **dict.fromkeys(("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"), _COUNT_27),
    "NodeVolumeLimits": "Filter: for each CSI driver of the pod's volumes:\n"
    "turned down if  volumes of the driver(pods of the node and the pod) > limit in the node's CSINode",
    "DefaultBinder": "Bind: writes the pod's node to the API server; `simulate` counts the pod as bound",
    "DefaultPreemption": "PostFilter: on at least max(100, 10 % of the nodes) candidates, who would have to leave?\n"
    "best: fewest broken budgets, lowest highest priority, lowest sum of priorities, fewest victims,\n"
    "      latest start of the highest victim, then the first",
    "DynamicResources": "Filter: turned down if  the devices of a claim cannot be reached from the node\n"
    "                    or  no devices are found for all claims that have none:\n"
    "        claim by claim, request by request the first device that is free, that all selectors match\n"
    "        and that no constraint forbids; back to the one before where there is none\n"
    "PostFilter: a claim that cannot be reached and that nobody else uses gives its devices back",
    "PrioritySort": "QueueSort: higher spec.priority first; of equal ones the pod that has waited longer",
    "SchedulingGates": "PreEnqueue: gated, and not tried, while spec.schedulingGates is not empty",
    "ImageLocality": "sum   = size of each image that the node has x nodes with the image / all nodes\n"
    "score = whole(100 x (sum - 23 MiB) / (1000 MiB x containers - 23 MiB)), with sum kept between these two",
    "InterPodAffinity": "Filter: turned down if  a required anti-affinity term of a pod there matches the pod\n"
    "                    or  a required affinity or anti-affinity term of the pod says so\n"
    "Score:  raw(node) = sum of the weights of preferred terms that match in its domains\n"
    "        score     = whole(100 x (raw - lowest) / (highest - lowest))",
    "NodeAffinity": "Filter: turned down if  nodeSelector, required node affinity or the profile's addedAffinity does not match\n"
    f"Score:  raw(node) = sum of the weights of the preferred terms that match\n        {_UP.format(top=100)}",
    "NodeName": "Filter: turned down if  pod.spec.nodeName is set, and is not the node's name",
    "NodePorts": "Filter: turned down if  a port (IP, protocol, hostPort) of the pod is taken on the node",
    "NodeResourcesBalancedAllocation": "share(resource) = requested / allocatable, at most 1\n"
    "score = whole(100 x (1 - standard deviation of the shares))",
    "NodeResourcesFit": f"Filter: {_ROOM}\nScore:  by scoringStrategy, here LeastAllocated:\n        {_LEAST.format(top=100)}\n"
    "        score = whole(sum of weight x score(resource) / sum of weights)",
    "NodeDeclaredFeatures": "Filter: turned down if  a feature that the pod needs is not in status.declaredFeatures of the node",
    "NodeUnschedulable": "Filter: turned down if  spec.unschedulable, and the pod does not tolerate\n"
    "                        node.kubernetes.io/unschedulable:NoSchedule",
    "PodTopologySpread": "Filter: for each constraint with DoNotSchedule:\n"
    "        turned down if  peers(domain of the node) + 1 - fewest peers of a domain > maxSkew\n"
    "Score:  raw(node) = sum over constraints of peers(domain) x ln(domains + 2) + maxSkew - 1, rounded\n"
    "        score     = whole(100 x (highest + lowest - raw) / highest)",
    **dict.fromkeys(("SelectorSpread", "DefaultPodTopologySpread"), _SPREAD.format(top=100)),
    "NodeLabel": "Filter: turned down if  one of presentLabels is missing, or one of absentLabels is there\n"
    "Score:  100 for each of presentLabelsPreference that is there, and of absentLabelsPreference that is not\n"
    "        score = whole(their mean)",
    "NodePreferAvoidPods": "score = 0 if the node's annotation names the pod's controller, else 100\n"
    "its default weight is 10000, so that it decides alone",
    "NodeResourceLimits": "score = 1 if the pod's limit of cpu or memory is at most what the node has, else 0",
    "NodeResourcesLeastAllocated": f"{_LEAST.format(top=100)}\nscore = whole(sum of weight x score(resource) / sum of weights)",
    "NodeResourcesMostAllocated": f"{_MOST.format(top=100)}\nscore = whole(sum of weight x score(resource) / sum of weights)",
    "RequestedToCapacityRatio": "score(resource) = 10 x the height of the line of shape at the share in use\n"
    "score = their mean by weight, of those above 0, rounded",
    "ServiceAffinity": "Filter: turned down if  a label of affinityLabels is another than the pod's node selector says\n"
    "                    or, if that says nothing, another than on the node of the service's first pod\n"
    "Score:  for each of antiAffinityLabelsPreference 100 x (pods of the service - those on nodes with the same value)\n"
    "        / pods of the service, 0 without the label; score = whole(their mean)",
    "TaintToleration": "Filter: turned down if  a taint with effect NoSchedule or NoExecute is not tolerated\n"
    f"Score:  raw(node) = number of taints with effect PreferNoSchedule that are not tolerated\n        {_DOWN.format(top=100)}",
    "VolumeBinding": "Filter: turned down if  the node affinity of a bound volume does not match\n"
    "                    or  an unbound claim finds no volume there and none can be made there\n"
    "Score:  0, or with gate VolumeCapacityPriority by how much of the chosen volumes is used",
    "VolumeRestrictions": "PreFilter: every node is turned down while another pod uses a ReadWriteOncePod claim of the pod\n"
    "Filter:    turned down if  a pod of the node uses the same GCE disk, EBS volume, iSCSI target or RBD image",
    "VolumeZone": "Filter: turned down if  the node lacks a zone or region label of a bound volume, or has another value\n"
    "nodes without any such label always fit",
}
"""Rule -> what it calculates."""
