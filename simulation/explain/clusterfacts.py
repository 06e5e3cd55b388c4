"""Labels and taints of a cluster, for people: their numbers, and the one near a label or a toleration that
fits none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import attrs

from ...api.meaning import SelectorError, match_expressions_selector, toleration_tolerates
from ...api.objects import Pod, Requirement, Taint, Toleration
from ...api.words import count_of
from ...exceptions import near_names

MOST_VALUES = 3
"""How many values of a label are named."""
ABSENCE = ("NotIn", "DoesNotExist")
"""Operators that ask for the absence of a label."""


def near_keys(key: str, keys: Collection[str]) -> list[str]:
    """The *keys* that are near *key* behind the slash, those with the same prefix first.

    >>> near_keys("topology.kubernetes.io/zne", ["zone", "topology.kubernetes.io/region", "topology.kubernetes.io/zone"])
    ['topology.kubernetes.io/zone', 'zone']
    """
    prefix, _, name = key.rpartition("/")
    parts = {candidate: candidate.rpartition("/") for candidate in keys}
    near = near_names(name, [last for _, _, last in parts.values()])
    matches = [
        candidate for near_name in near for candidate, (_, _, last) in parts.items() if last == near_name
    ]
    return sorted(matches, key=lambda candidate: parts[candidate][0] != prefix)


def have(count: int, noun: str = "") -> str:
    """The number of objects, with its verb.

    >>> have(1), have(2, "node")
    ('1 has', '2 nodes have')
    """
    return f"{count_of(count, noun) if noun else f'{count:,}'} {'has' if count == 1 else 'have'}"


@attrs.frozen
class LabelFacts:
    """The labels of all nodes, or of all pods on nodes: key -> value -> how many have it; *noun*: the word
    for these objects."""

    counts: Mapping[str, Counter[str]]
    noun: str = "node"

    @classmethod
    def of(cls, labels: Iterable[Mapping[str, str]], noun: str = "node") -> LabelFacts:
        """The facts of *labels*, one map for each object."""
        counts: dict[str, Counter[str]] = {}
        for pairs in labels:
            for key, value in pairs.items():
                counts.setdefault(key, Counter())[value] += 1
        return cls(counts, noun)

    def having(self, key: str, value: str) -> int:
        """The number of objects with the label."""
        return self.counts.get(key, Counter())[value]

    def near(self, key: str, value: str) -> tuple[str, str] | None:
        """The label that is probably meant by one that no object has: another value of the key, or the value
        of another key."""
        if self.having(key, value):
            return None
        if key in self.counts:
            values = near_names(value, self.counts[key])
            return (key, values[0]) if values else None
        return next(
            ((meant, value) for meant in near_keys(key, self.counts) if self.having(meant, value)), None
        )

    def note(self, key: str, value: str) -> str:
        """The number of objects with the label; if there are none, the labels in its place.

        >>> facts = LabelFacts.of([{"pool": "general"}, {"pool": "general"}, {"pool": "gpu"}])
        >>> facts.note("pool", "gpu"), facts.note("pool", "genral"), facts.note("pol", "gpu")
        ('1 node has it', 'no node has it; 2 have pool=general', 'no node has it; 1 has pool=gpu')
        >>> facts.note("pool", "x"), facts.note("disk", "ssd")
        ('no node has it; pool is general on 2, gpu on 1', 'no node has the label disk')
        """
        if count := self.having(key, value):
            return f"{have(count, self.noun)} it"
        near = self.near(key, value)
        if near is not None:
            return f"no {self.noun} has it; {have(self.having(*near))} {'='.join(near)}"
        return f"no {self.noun} has it; {self._values(key)}" if key in self.counts else self.without(key)

    def without(self, key: str) -> str:
        """A note that no object has the label *key*, with a near one; empty if one has it.

        >>> LabelFacts.of([{"zone": "a"}]).without("zne")
        'no node has the label zne; there is zone'
        """
        if key in self.counts:
            return ""
        near = near_keys(key, self.counts)
        return f"no {self.noun} has the label {key}" + (f"; there is {near[0]}" if near else "")

    def note_of(self, expression: Requirement) -> str:
        """The note for an expression over labels; empty where it is about their absence."""
        key = expression.key
        try:
            match_expressions_selector((expression,))
        except SelectorError as error:
            return f"cannot be read: {error}"
        if expression.operator in ABSENCE:
            return ""
        if expression.operator == "In":
            notes = {value: self.note(key, value) for value in expression.values}
            return "; ".join(
                f"{value}: {note}" if len(expression.values) > 1 else note for value, note in notes.items()
            )
        if expression.operator == "Exists" and key in self.counts:
            return f"{have(sum(self.counts[key].values()), self.noun)} the label"
        return self.without(key) or self._values(key)

    def lacks(self, expression: Requirement) -> bool:
        """Whether no object has any of the labels that *expression* asks for."""
        if expression.operator in ABSENCE:
            return False
        try:
            matches = match_expressions_selector((expression,))
        except SelectorError:  # no node matches
            return True
        return not any(matches({expression.key: value}) for value in self.counts.get(expression.key, ()))

    def _values(self, key: str) -> str:
        values = self.counts[key].most_common(MOST_VALUES)
        more = ""
        if len(self.counts[key]) > MOST_VALUES:
            more = f" and {len(self.counts[key]) - MOST_VALUES:,} other values"
        return f"{key} is {', '.join(f'{value} on {number:,}' for value, number in values)}{more}"


# --- taints -------------------------------------------------------------------------------------------------


SET_BY_CLUSTER = "node.kubernetes.io/"
"""The beginning of keys of taints that the cluster itself sets and removes, by a node's state."""
CONDITIONS = {
    "node.kubernetes.io/not-ready": "ready",
    "node.kubernetes.io/unreachable": "reachable",
    "node.kubernetes.io/memory-pressure": "free of memory pressure",
    "node.kubernetes.io/disk-pressure": "free of disk pressure",
    "node.kubernetes.io/pid-pressure": "free of pid pressure",
    "node.kubernetes.io/network-unavailable": "reachable by network",
    "node.cloudprovider.kubernetes.io/uninitialized": "initialized",
    "node.kubernetes.io/out-of-service": "in service",
}
"""Key of a taint for a node's state -> the words for a node without it."""


def is_state(taint: Taint) -> bool:
    """Whether the cluster itself sets and removes *taint*, by the node's state.

    >>> is_state(Taint(key="node.kubernetes.io/not-ready")), is_state(Taint(key="nvidia.com/gpu"))
    (True, False)
    """
    return taint.key.startswith(SET_BY_CLUSTER) or taint.key in CONDITIONS


def taint_text(taint: Taint) -> str:
    """A taint as edits write it.

    >>> taint_text(Taint(key="dedicated", value="gpu", effect="NoSchedule")), taint_text(Taint(key="k", effect="NoExecute"))
    ('dedicated=gpu:NoSchedule', 'k:NoExecute')
    """
    return (
        f"{taint.key}{f'={taint.value}' if taint.value else ''}{f':{taint.effect}' if taint.effect else ''}"
    )


def toleration_text(toleration: Toleration) -> str:
    """A toleration as :func:`taint_text` writes taints, without a value if it takes any."""
    value = f"={toleration.value}" if toleration.value and toleration.operator != "Exists" else ""
    return f"{toleration.key}{value}{f':{toleration.effect}' if toleration.effect else ''}"


def idle_tolerations(pod: Pod, taints: Collection[Taint]) -> list[Toleration]:
    """The tolerations of *pod* that are for none of *taints*; those that every pod gets do not count."""
    return [
        toleration
        for toleration in pod.spec.tolerations
        if toleration.key
        and not toleration.key.startswith(SET_BY_CLUSTER)
        and not any(toleration_tolerates(toleration, taint) for taint in taints)
    ]


def is_meant(toleration: Toleration, taint: Taint) -> bool:
    """Whether an idle *toleration* is probably meant for *taint*: its key is the same, or nearly so.

    >>> gpu = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")
    >>> [is_meant(Toleration(key=key, value="true"), gpu) for key in ("nvidia.com/gpu", "nvidia.com/gpus", "dedicated")]
    [True, True, False]
    """
    return bool(near_keys(toleration.key, [taint.key]))
