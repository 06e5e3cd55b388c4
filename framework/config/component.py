"""The parts of a component configuration that schedule nothing: leader election, the connection to the API
server, and addresses. The scheduler does not start if one of them has a fault.

Upstream: k8s.io/component-base config/v1alpha1/types.go, config/validation/validation.go;
pkg/scheduler/apis/config/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Annotated, Any

import attrs

from ...api.meaning import duration, duration_text, int64_or_none, quoted
from ...api.objects import Int32
from ...api.reading import Mismatch, ReadBy
from .fielderrors import Context, invalid, shown


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch(value, "a number")
    return float(value)


@attrs.frozen
class ClientConnection:
    """The connection to the API server."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: Annotated[float, ReadBy(_number)] = 0.0
    burst: Int32 = 0

    def faults(self, path: str) -> Iterator[str]:
        """The faults that upstream's validation finds."""
        if self.burst < 0:
            yield invalid(f"{path}.burst", self.burst, "must be non-negative")


@attrs.frozen
class LeaderElection:
    """The election of the active scheduler. Empty texts and zeros stand for the defaults; times are in
    seconds."""

    leader_elect: bool = True
    lease_duration: Annotated[float, ReadBy(duration)] = 0.0
    renew_deadline: Annotated[float, ReadBy(duration)] = 0.0
    retry_period: Annotated[float, ReadBy(duration)] = 0.0
    resource_lock: str = ""
    lock_object_name: str = ""
    lock_object_namespace: str = ""
    resource_name: str = ""
    resource_namespace: str = ""

    def faults(self, path: str, context: Context) -> Iterator[str]:
        """The faults that upstream's validation finds; a time of 0 and an empty name have their defaults."""
        if not self.leader_elect:
            return
        is_newer = context.framework.faults_as_json

        def time_text(seconds: float) -> str:
            if is_newer:
                return shown(duration_text(seconds))
            return f"v1.Duration{{Duration:{round(seconds * 10**9)}}}"

        lease = self.lease_duration or 15.0
        renewal = self.renew_deadline or 10.0
        times = {"leaseDuration": lease, "renewDeadline": renewal, "retryPeriod": self.retry_period or 2.0}
        for name, seconds in times.items():
            if seconds <= 0:
                yield f"{path}.{name}: Invalid value: {time_text(seconds)}: must be greater than zero"
        if lease < renewal or (context.cells.lease_outlasts_renewal and lease == renewal):
            text = (
                "must be greater than `RenewDeadline`"
                if is_newer
                else "LeaseDuration must be greater than RenewDeadline"
            )
            # Upstream: the value shown is that of the other field.
            yield f"{path}.leaseDuration: Invalid value: {time_text(renewal)}: {text}"
        if context.cells.locks_leases_alone and (self.resource_lock or "leases") != "leases":
            yield invalid(f"{path}.resourceLock", self.resource_lock, 'resourceLock value must be "leases"')


def address_faults(path: str, address: str, context: Context) -> Iterator[str]:
    """The faults of an address at which the scheduler would serve its health or its metrics."""
    if not address or not context.cells.closes_addresses:
        return
    host, colon, port = address.rpartition(":")
    if not colon:
        yield invalid(path, address, f"address {address}: missing port in address")
    elif int64_or_none(port) is None:
        yield invalid(path, address, f"strconv.Atoi: parsing {quoted(port)}: invalid syntax")
    else:
        try:
            ip_address(host.removeprefix("[").removesuffix("]"))
        except ValueError:
            yield invalid(path, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
        if int(port):
            yield invalid(path, address, "must be empty or with an explicit 0 port")
