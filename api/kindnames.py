"""The words for kinds of objects, as kubectl takes them: the kind itself, its plural, its short name, in any case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..exceptions import UnknownNameError, did_you_mean, wrong_type
from .objects import KINDS, KubeObject

SHORT: Mapping[str, str] = {
    "no": "Node", "po": "Pod", "pv": "PersistentVolume", "pvc": "PersistentVolumeClaim", "sc": "StorageClass", "svc": "Service",
    "rc": "ReplicationController", "rs": "ReplicaSet", "sts": "StatefulSet", "pdb": "PodDisruptionBudget", "pc": "PriorityClass",
    "ns": "Namespace", "quota": "ResourceQuota", "limits": "LimitRange",
}  # fmt: skip
"""kubectl's short names."""


def _words(kind: str) -> Iterator[str]:
    """The singular and the plural of a kind."""
    yield kind.lower()
    if kind.endswith("y"):
        yield f"{kind[:-1].lower()}ies"
    else:
        yield f"{kind.lower()}{'es' if kind.endswith('s') else 's'}"


_KINDS = {word: KINDS[kind] for kind in KINDS for word in _words(kind)} | {short: KINDS[kind] for short, kind in SHORT.items()}


def kind_of(given: type[KubeObject] | str) -> type[KubeObject]:
    """The class of a kind, by one of its words or by itself.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError`, and :class:`~kubeclassic.exceptions.WrongTypeError` for anything else.

    >>> kind_of("pods").kind, kind_of("Node").kind, kind_of("pvc").kind
    ('Pod', 'Node', 'PersistentVolumeClaim')
    """
    if isinstance(given, type) and issubclass(given, KubeObject):
        return given
    if not isinstance(given, str):
        raise wrong_type("kind", given, 'a class such as Pod, or a word such as "pod"')
    word = given.lower().partition(".")[0]
    if word not in _KINDS:
        raise UnknownNameError(f'kind: got "{given}", wanted one such as pod, node or pvc{did_you_mean(word, _KINDS)}')
    return _KINDS[word]


def kind_words() -> dict[str, str]:
    """Each word for a kind that is read, in lower case -> the kind."""
    return {word: kind.kind for word, kind in _KINDS.items()}
