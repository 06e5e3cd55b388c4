"""Fields that a configuration must not have: every unknown one is an error. Upstream: strict decoding in apimachinery."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Shape = Mapping[str, Any]
"""Known field -> the shape of what is in it: None for anything, a shape for an object, ``[shape]`` for a list of objects."""


def _fields(names: str, **nested: Any) -> dict[str, Any]:
    return {**dict.fromkeys(names.split()), **nested}


_EXPRESSIONS = [_fields("key operator values")]
_TERM = {"matchExpressions": _EXPRESSIONS, "matchFields": _EXPRESSIONS}
_NODE_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]},
    "preferredDuringSchedulingIgnoredDuringExecution": [_fields("weight", preference=_TERM)],
}
_RESOURCES = [_fields("name weight")]
_SHAPE = [_fields("utilization score")]
_SELECTOR = _fields("matchLabels", matchExpressions=_EXPRESSIONS)
_CONSTRAINT = _fields(
    "maxSkew topologyKey whenUnsatisfiable minDomains nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys", labelSelector=_SELECTOR
)
_TYPE = "kind apiVersion"

ARGS: Mapping[str, Shape] = {
    "DefaultPreemption": _fields(f"{_TYPE} minCandidateNodesPercentage minCandidateNodesAbsolute"),
    "InterPodAffinity": _fields(f"{_TYPE} hardPodAffinityWeight ignorePreferredTermsOfExistingPods"),
    "NodeAffinity": _fields(_TYPE, addedAffinity=_NODE_AFFINITY),
    "NodeResourcesBalancedAllocation": _fields(_TYPE, resources=_RESOURCES),
    "NodeResourcesFit": _fields(
        f"{_TYPE} ignoredResources ignoredResourceGroups",
        scoringStrategy=_fields("type", resources=_RESOURCES, requestedToCapacityRatio={"shape": _SHAPE}),
    ),
    "PodTopologySpread": _fields(f"{_TYPE} defaultingType", defaultConstraints=[_CONSTRAINT]),
    "VolumeBinding": _fields(f"{_TYPE} bindTimeoutSeconds", shape=_SHAPE),
}
"""Plugin -> the shape of its arguments."""

POINT_NAMES = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind", "postBind",
    "multiPoint",
)  # fmt: skip
_SET = {"enabled": [_fields("name weight")], "disabled": [_fields("name weight")]}
_EXTENDER = _fields(
    "urlPrefix filterVerb preemptVerb prioritizeVerb weight bindVerb enableHTTPS httpTimeout nodeCacheCapable ignorable",
    tlsConfig=_fields("insecure serverName certFile keyFile caFile certData keyData caData"),
    managedResources=[_fields("name ignoredByScheduler")],
)
CONFIGURATION: Shape = _fields(
    f"{_TYPE} parallelism percentageOfNodesToScore podInitialBackoffSeconds podMaxBackoffSeconds enableProfiling"
    " enableContentionProfiling healthzBindAddress metricsBindAddress delayCacheUntilActive",
    leaderElection=_fields("leaderElect leaseDuration renewDeadline retryPeriod resourceLock resourceName resourceNamespace"),
    clientConnection=_fields("kubeconfig acceptContentTypes contentType qps burst"),
    profiles=[
        _fields(
            "schedulerName percentageOfNodesToScore",
            plugins=dict.fromkeys(POINT_NAMES, _SET),
            pluginConfig=[_fields("name args")],
        )
    ],
    extenders=[_EXTENDER],
)


def unknown_fields(value: Any, shape: Any, path: str = "") -> Iterator[str]:
    """The paths of the fields of *value* that *shape* does not know."""
    if isinstance(shape, list) and isinstance(value, list):
        for i, item in enumerate(value):
            yield from unknown_fields(item, shape[0], f"{path}[{i}]")
    elif isinstance(shape, Mapping) and isinstance(value, Mapping):
        for name, item in value.items():
            within = f"{path}.{name}" if path else str(name)
            if name in shape:
                yield from unknown_fields(item, shape[name], within)
            else:
                yield within


def strict_error(value: Any, shape: Any) -> str:
    """Upstream's words for the unknown fields of *value*; empty where there is none."""
    return ", ".join(f'unknown field "{path}"' for path in unknown_fields(value, shape))
