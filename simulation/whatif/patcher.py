"""Makes changed objects by edits in words, so that what is tried is what a patch says."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import yaml

from ...api.load import Loaded
from ...api.objects import KubeObject, Node, Pod
from ...api.objects.quantity import Quantity
from ...api.words import is_bytes
from ..edits.apply import Edits
from ..edits.paths import EditError


@attrs.frozen
class SpecPatcher:
    """Edits single objects as ``--set`` does."""

    defaults: bool = True
    classes: tuple[KubeObject, ...] = ()
    """PriorityClasses, which edits of priorities look up."""
    priorities: bool = True
    """Whether gate PodPriority is on."""

    def pod(self, pod: Pod, *changes: str) -> tuple[str, Pod] | None:
        """The edit of *pod* in words, and the pod after it; None if the edit is refused, or changes nothing."""
        text = _text("pod", pod.key, changes)
        try:
            (after, *_), told = Edits.parse([text], defaults=self.defaults).of_pods([pod, *self.classes], priorities=self.priorities)
        except EditError:
            return None
        return (text, after) if isinstance(after, Pod) and told[0].changed else None

    def node(self, node: Node, *changes: str) -> tuple[str, Node] | None:
        """The edit of *node* in words, and the node after it; None if the edit is refused, or changes nothing."""
        text = _text("node", node.name, changes)
        try:
            (loaded,), told = Edits.parse([text], defaults=self.defaults).of_loaded([Loaded((node,))])
        except EditError:
            return None
        (after,) = loaded.objects
        return (text, after) if isinstance(after, Node) and told[0].changed else None


def _text(kind: str, name: str, changes: Iterable[str]) -> str:
    return " ".join([kind, name, *map(_word, changes)])


def _word(change: str) -> str:
    """*change* as one word; quoted only if that is needed."""
    if not set(change) & set(" '\"\\\t\n"):
        return change
    return shlex.quote(change) if set(change) & set('"\\') else f'"{change}"'


def written(value: Mapping[str, Any]) -> str:
    """*value* as YAML on one line.

    >>> written({"weight": 1, "values": ["a"]})
    '{weight: 1, values: [a]}'
    """
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1 << 20).strip()


def amount(resource: str, number: int) -> str:
    """A number of millicores, bytes or pieces, exact, as manifests have it.

    >>> amount("cpu", 1500), amount("cpu", 2000), amount("memory", 3 * 2**29), amount("memory", 1000), amount("nvidia.com/gpu", 1024)
    ('1500m', '2', '1536Mi', '1000', '1024')
    """
    if resource == "cpu":
        return str(Quantity.parse(f"{number}m"))
    if is_bytes(resource):
        return str(Quantity.parse(f"{number // 1024}Ki")) if number % 1024 == 0 else str(number)
    return str(number)
