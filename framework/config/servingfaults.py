"""The faults of what a configuration says besides scheduling, for which a release does not start: addresses, and the lock of an election.

Upstream: ValidateKubeSchedulerConfiguration in pkg/scheduler/apis/config/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.release import ConfigurationCells
from .fielderrors import invalid

ADDRESSES = ("healthzBindAddress", "metricsBindAddress")


def lock_faults(document: Mapping[str, Any], cells: ConfigurationCells) -> Iterator[str]:
    """The fault of the lock of leader election in *document*."""
    election = document.get("leaderElection")
    given = election if isinstance(election, Mapping) else {}
    lock = given.get("resourceLock") or "leases"
    if cells.leases_alone and given.get("leaderElect", True) is not False and lock != "leases":
        yield invalid("leaderElection.resourceLock", lock, 'resourceLock value must be "leases"')


def address_faults(document: Mapping[str, Any], cells: ConfigurationCells) -> Iterator[str]:
    """The faults of the addresses in *document* at which a release serves that still reads them, but listens at no port without TLS."""
    for name in ADDRESSES if not cells.listens_without_tls else ():
        written = document.get(name)
        if isinstance(written, str) and written and name not in cells.fields_lacked:
            yield from (invalid(name, written, text) for text in _texts(written))


def _texts(address: str) -> Iterator[str]:
    host, colon, port = address.rpartition(":")
    if not colon:
        yield f"address {address}: missing port in address"
        return
    if not port.lstrip("+-").isdecimal():
        yield f'strconv.Atoi: parsing "{port}": invalid syntax'
        return
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        yield "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    if int(port):
        yield "must be empty or with an explicit 0 port"
