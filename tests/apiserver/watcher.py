"""An independent count of what went wrong: pods bound twice, over capacity, or lost. It only looks at what
the server stored."""

import math
import re
from collections import Counter
from fractions import Fraction
from functools import lru_cache

import attrs

_QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+)|([a-zA-Z]*))")
_UNITS = {"": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
_UNITS |= {letter: Fraction(10 ** (3 * power)) for power, letter in enumerate("kMGTPE", 1)}
_UNITS |= {
    letter: Fraction(2 ** (10 * power))
    for power, letter in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)
}
OVER = ("Succeeded", "Failed")


@lru_cache(maxsize=1 << 14)
def amount(text, scale=1):
    """A quantity as a whole number of its *scale*-th parts, rounded up."""
    found = _QUANTITY.fullmatch(text)
    assert found is not None, text
    unit = Fraction(10) ** int(found[2]) if found[2] else _UNITS[found[3] or ""]
    return math.ceil(Fraction(found[1]) * unit * scale)


def amounts(resources):
    """Resource -> amount; cpu in thousandths."""
    return Counter(
        {name: amount(str(text), 1000 if name == "cpu" else 1) for name, text in resources.items()}
    )


def requests(pod):
    """A pod's requests from its node: the sum of its containers, at least as much as each init container, and
    one pod."""
    spec = pod["spec"]
    total = Counter()
    for container in spec["containers"]:
        total.update(amounts((container.get("resources") or {}).get("requests") or {}))
    for container in spec.get("initContainers") or ():
        total |= amounts((container.get("resources") or {}).get("requests") or {})
    total.update(amounts(spec.get("overhead") or {}))
    return total + Counter(pods=1)


def ports(pod):
    """(address, protocol, port) of each port of the node that a pod takes."""
    given = (port for container in pod["spec"]["containers"] for port in container.get("ports") or ())
    wanted = (
        (port.get("hostIP") or "0.0.0.0", port.get("protocol", "TCP"), port.get("hostPort", 0))
        for port in given
    )
    return {port for port in wanted if port[2]}


def clash(one, other):
    """Whether two pods want the same port; 0.0.0.0 is every address."""
    return any(a[1:] == b[1:] and (a[0] == b[0] or "0.0.0.0" in (a[0], b[0])) for a in one for b in other)


@attrs.define
class Load:
    """The pods on one node."""

    pods: dict = attrs.field(factory=dict)
    """By UID."""
    total: Counter = attrs.field(factory=Counter)
    with_ports: dict = attrs.field(factory=dict)
    """UID -> ports, of pods that have some."""


@attrs.define
class Watcher:
    """Follows a storage from now on."""

    storage: object
    loads: dict = attrs.field(factory=dict, init=False)
    hosts: dict = attrs.field(factory=dict, init=False)
    """UID -> the node that a pod was bound to first, also of pods that are gone."""
    bound_twice: list = attrs.field(factory=list, init=False)
    over_capacity: list = attrs.field(factory=list, init=False)
    homeless: list = attrs.field(factory=list, init=False)
    """Pods that were bound to a node that was not there."""
    deleted: list = attrs.field(factory=list, init=False)
    """Pods that went without ever having been bound."""

    def __attrs_post_init__(self):
        for pod in self.storage.of("pods").values():
            self._see(None, pod)
        self.storage.observers.append(self.observe)

    @property
    def faults(self):
        """All that must never happen."""
        return [*self.bound_twice, *self.over_capacity]

    @property
    def bound(self):
        """The number of pods bound so far."""
        return len(self.hosts)

    def waiting(self):
        """The pods that are there, without a node: ``namespace/name``. At the end those are lost, or fit
        nowhere."""
        pods = self.storage.of("pods").items()
        return sorted("/".join(key) for key, pod in pods if _place(pod) is None and not _is_over(pod))

    def observe(self, change):
        """Note a change."""
        if change.plural == "pods":
            self._see(change.before, None if change.is_deletion else change.after)
            if change.is_deletion and not change.after["spec"].get("nodeName"):
                self.deleted.append("/".join(change.key))

    def _see(self, before, after):
        was = _place(before)
        now = _place(after)
        if after is not None and now is not None:
            self._note_host(after, now)
        if was == now and (was is None or _is_over(before) == _is_over(after)):
            return
        if before is not None and was is not None:
            self._take_off(before, was)
        if after is not None and now is not None and not _is_over(after):
            self._put_on(after, now)

    def _note_host(self, pod, host):
        first = self.hosts.setdefault(pod["metadata"]["uid"], host)
        if first != host:
            self.bound_twice.append(f"{_name(pod)}: on {first}, then on {host}")

    def _take_off(self, pod, host):
        load = self.loads.setdefault(host, Load())
        uid = pod["metadata"]["uid"]
        if load.pods.pop(uid, None) is not None:
            load.total.subtract(requests(pod))
            load.with_ports.pop(uid, None)

    def _put_on(self, pod, host):
        load = self.loads.setdefault(host, Load())
        uid = pod["metadata"]["uid"]
        wanted = ports(pod)
        node = self.storage.of("nodes").get(("", host))
        if any(clash(wanted, taken) for taken in load.with_ports.values()):
            self.over_capacity.append(f"{_name(pod)} on {host}: a port is taken")
        load.pods[uid] = pod
        load.total.update(requests(pod))
        if wanted:
            load.with_ports[uid] = wanted
        if node is None:
            self.homeless.append(f"{_name(pod)} on {host}")
        else:
            self.over_capacity += [
                f"{_name(pod)} on {host}: {each}" for each in _excess(load.total, node, requests(pod))
            ]


def _excess(total, node, wanted):
    """The resources of *wanted* of which the node's pods take more than it has."""
    room = amounts(node["status"].get("allocatable") or {})
    for name in wanted:
        if wanted[name] and total[name] > room[name]:
            yield f"{name} {total[name]} of {room[name]}"


def _place(pod):
    return None if pod is None else pod["spec"].get("nodeName") or None


def _is_over(pod):
    return pod is not None and pod["status"].get("phase") in OVER


def _name(pod):
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
