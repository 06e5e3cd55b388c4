"""PodFitsHostPorts as one plain loop: one pod, one node, no arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeclassic.api.objects import Pod


def clashes(pod: Pod, existing: Sequence[Pod]) -> bool:
    """Whether a host port that *pod* asks for is in use by one of the node's *existing* pods."""
    for address, protocol, number in _ports(pod):
        for other in existing:
            for used_address, used_protocol, used_number in _ports(other):
                if (protocol, number) != (used_protocol, used_number):
                    continue
                if address == used_address or "0.0.0.0" in (address, used_address):
                    return True
    return False


def _ports(pod: Pod) -> Iterator[tuple[str, str, int]]:
    for container in pod.spec.containers:
        for port in container.ports:
            if port.host_port > 0:
                yield port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port
