"""Numbers with their nouns, lists of names and durations, as people write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..exceptions import UnknownNameError, did_you_mean, wrong_type
from .objects import KINDS, KubeObject, Quantity

LISTED = 5
"""The most names that a sentence lists; the others are counted."""


def count_of(number: int, noun: str, several: str = "") -> str:
    """*number* and *noun*, which takes an s unless there is one of it; *several* is another plural.

    >>> count_of(1, "pod"), count_of(1523, "node"), count_of(2, "class", "classes")
    ('1 pod', '1,523 nodes', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def count_doing(number: int, noun: str, verb: str, adverb: str = "") -> str:
    """*number*, *noun* and what they do; the verb takes an s where there is one of them.

    >>> count_doing(1, "pod", "wait", "still"), count_doing(2, "decision", "differ")
    ('1 pod still waits', '2 decisions differ')
    """
    words = (count_of(number, noun), adverb, f"{verb}s" if number == 1 else verb)
    return " ".join(word for word in words if word)


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """Names one after another, not more than *most*.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], 2)
    ('a', 'a and b', 'a, b and 1 more')
    """
    *shown, last = names if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return f"{', '.join(shown)} and {last}" if shown else last


BYTES = ("memory", "ephemeral-storage")
BEYOND_USE = 10_000.0
"""No use of a node comes near this share of 1, except sums that have wrapped around."""
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class Figure(str):
    """A number with its unit, such as ``8.0 TiB``: aligned at its right, and never cut."""


def amount(resource: str, number: int) -> str:
    """A number of millicores, bytes or pieces, exact, as manifests have it.

    >>> amount("cpu", 1500), amount("memory", 3 * 2**29), amount("nvidia.com/gpu", 2)
    ('1500m', '1536Mi', '2')
    """
    if resource == "cpu":
        return str(Quantity.parse(f"{number}m"))
    if not is_bytes(resource):
        return str(number)
    power = next((power for power in (3, 2, 1) if number and number % 1024**power == 0), 0)
    return f"{number // 1024**power}{('', 'Ki', 'Mi', 'Gi')[power]}"


def rounded(resource: str, number: int) -> Figure:
    """A number of millicores, bytes or pieces as people say it: cores with two decimals (three below 10),
    bytes with one.

    >>> rounded("cpu", 3591000), rounded("cpu", 250), rounded("memory", 8 * 2**40), rounded("nvidia.com/gpu", 6212)
    ('3,591', '0.25', '8.0 TiB', '6,212')
    """
    if resource == "cpu":
        return Figure(f"{number / 1000:,.{2 if abs(number) >= 10_000 else 3}f}".rstrip("0").rstrip("."))
    if not is_bytes(resource):
        return Figure(f"{number:,}")
    size = float(number)
    unit = 0
    while abs(round(size, 1)) >= 1024 and unit < len(_UNITS) - 1:
        size = size / 1024
        unit = unit + 1
    return Figure(f"{size:,.1f} {_UNITS[unit]}" if unit else f"{number:,} B" if number else "0")


def percent(share: float) -> Figure:
    """A share of 1 as ``12.3 %``; ``overflow`` where a sum did not fit into 64 bits.

    >>> percent(0.123), percent(-1.4e8)
    ('12.3 %', 'overflow')
    """
    return Figure(f"{100 * share:.1f} %" if 0 <= share < BEYOND_USE else "overflow")


def decimal(value: float) -> Figure:
    """A measure with four digits after the point, at most.

    >>> decimal(0.123456), decimal(3.0), decimal(12)
    ('0.1235', '3', '12')
    """
    return Figure(f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else value)


def brief(value: float) -> str:
    """A measure as a sentence says it: two digits after the point from 10 on.

    >>> brief(20.3333), brief(0.095087), brief(1511)
    ('20.33', '0.0951', '1,511')
    """
    if isinstance(value, float) and abs(value) < 10:
        return decimal(value)
    return f"{value:,.2f}".rstrip("0").rstrip(".")


_OF_SENTENCES = frozenset(
    ["all", "any", "each", "fewer", "less", "more", "most", "new", "no", "node", "none", "one", "only", "pod"]
)


def quoted(name: str) -> str:
    """The name of a pod, in quotes where it would be read as a word of the sentence.

    >>> quoted("web"), quoted("more")
    ('web', '"more"')
    """
    return f'"{name}"' if name in _OF_SENTENCES else name


def short_name(resource: str) -> str:
    """A resource's name without its domain, for headers."""
    return resource.rpartition("/")[2]


def used_up(resource: str) -> str:
    """The words, after its name, for a resource that is used up.

    >>> f"{short_name('cpu')}{used_up('cpu')}", f"{short_name('pods')}{used_up('pods')}"
    ('cpu has run out', 'pods are as many as allowed')
    """
    return " are as many as allowed" if resource == "pods" else " has run out"


def is_bytes(resource: str) -> bool:
    """Whether amounts of *resource* are bytes."""
    return resource in BYTES or resource.startswith("hugepages-")


def duration(seconds: float) -> str:
    """A number of seconds as people say it.

    >>> duration(42), duration(3725.4), duration(200000)
    ('42 s', '1 h 2 min 5 s', '2 d 7 h 33 min')
    """
    rest = round(seconds)
    parts = list[str]()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, rest = divmod(rest, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:3])


_BEGINS_FORMULA = frozenset("=+-@\t\r")


def no_formula(cell: object) -> object:
    """A cell of CSV that no spreadsheet takes for a formula: a text that could be one gets an apostrophe
    before it.

    >>> no_formula("=HYPERLINK(1)"), no_formula("web-0"), no_formula(-5), no_formula("-5.5")
    ("'=HYPERLINK(1)", 'web-0', -5, '-5.5')
    """
    if not isinstance(cell, str) or len(cell) < 2 or cell[0] not in _BEGINS_FORMULA:
        return cell
    return cell if cell[1:].replace(".", "", 1).isdecimal() else f"'{cell}"


SHORT: Mapping[str, str] = {
    "no": "Node",
    "po": "Pod",
    "pv": "PersistentVolume",
    "pvc": "PersistentVolumeClaim",
    "sc": "StorageClass",
    "svc": "Service",
    "rc": "ReplicationController",
    "rs": "ReplicaSet",
    "sts": "StatefulSet",
    "pdb": "PodDisruptionBudget",
    "pc": "PriorityClass",
    "ns": "Namespace",
    "quota": "ResourceQuota",
    "limits": "LimitRange",
}
"""kubectl's short names."""


def plural_of(kind: str) -> str:
    """The plural of a kind, as resources of the API are called.

    Upstream: UnsafeGuessKindToResource in k8s.io/apimachinery/pkg/api/meta/restmapper.go.

    >>> [plural_of(kind) for kind in ("StorageClass", "CSIStorageCapacity", "Endpoints", "Pod")]
    ['storageclasses', 'csistoragecapacities', 'endpoints', 'pods']
    """
    name = kind.lower()
    if name == "endpoints":
        return name
    return f"{name}es" if name.endswith("s") else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


_KINDS = {word: KINDS[kind] for kind in KINDS for word in (kind.lower(), plural_of(kind))} | {
    short: KINDS[kind] for short, kind in SHORT.items()
}


def kind_of(kind: type[KubeObject] | str) -> type[KubeObject]:
    """The class of a kind, by one of its words or by itself.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError`, and
    :class:`~kubeclassic.exceptions.WrongTypeError` for anything else.

    >>> kind_of("pods").kind, kind_of("Node").kind, kind_of("pvc").kind
    ('Pod', 'Node', 'PersistentVolumeClaim')
    """
    if isinstance(kind, type) and issubclass(kind, KubeObject):
        return kind
    if not isinstance(kind, str):
        raise wrong_type("kind", kind, 'a class such as Pod, or a word such as "pod"')
    word = kind.lower().partition(".")[0]
    if word not in _KINDS:
        raise UnknownNameError(
            f'kind: expected one such as pod, node or pvc, got "{kind}"{did_you_mean(word, _KINDS)}'
        )
    return _KINDS[word]


def kind_words() -> dict[str, str]:
    """Each word for a kind that is read, in lower case -> the kind."""
    return {word: kind.kind for word, kind in _KINDS.items()}
