"""The flags and the configuration of ``kubeclassic run``, beside the scheduler itself, as one typed value.

Flags have the names that kube-scheduler's have. A flag counts more than the configuration.
Upstream: pkg/scheduler/apis/config and k8s.io/component-base/config, with their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite, nan
from pathlib import Path
from typing import TypeVar, cast

from attrs import Factory, frozen

from ...algorithmprovider.config import KIND, configuration_document
from ...algorithmprovider.gates import FALSE, TRUE
from ...api.meaning import parse_duration
from ...api.reading import Mismatch, read
from ...exceptions import KubeclassicError, PolicyError
from ...framework.config.component import ClientConnection, LeaderElection
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ..client.addresses import KubeconfigError
from ..client.api import Api, ApiError, Transport, resource
from ..client.http import Access
from ..client.kubeconfig import access_at, in_cluster, read_kubeconfig
from ..process.logs import FORMS, TEXT_LINES
from ..server.serving import Listening
from ..settings.flagtable import BOOL, DURATION, FLAGS, NUMBER, PARKED, PLACES, TEXT, WHOLE
from .election import JITTER, LeaseTimes

T = TypeVar("T")
LOOPBACK = "127.0.0.1"
HTTP_PORT = 10251
HTTPS_PORT = 10259
LOCK = "leases"
GROUP = "kubescheduler.config.k8s.io"


class FlagError(KubeclassicError):
    """A flag is unknown, wrong, or asks for something that is not supported."""


@frozen
class ComponentSettings:
    """The parts of a configuration that are not about scheduling."""

    kind: str = ""
    api_version: str = ""
    scheduler_name: str = ""
    leader_election: LeaderElection = Factory(LeaderElection)
    client_connection: ClientConnection = Factory(ClientConnection)
    bind_timeout_seconds: int = 600
    healthz_bind_address: str | None = None
    metrics_bind_address: str | None = None


def load_surroundings(file: str) -> ComponentSettings:
    """The parts of the configuration in *file* that are not about scheduling. The reader of the scheduler's
    part checks whether the release reads its apiVersion.

    Raises :class:`~kubeclassic.exceptions.PolicyError` or ``ManifestError``, which say where and what.
    """
    document = configuration_document(file)
    where = document.where
    try:
        surroundings = read(ComponentSettings, document.data)
    except Mismatch as mismatch:
        raise PolicyError(f"{where}: {mismatch}") from None
    if surroundings.kind != KIND:
        raise PolicyError(f'{where}: kind: expected {KIND}, got "{surroundings.kind}"')
    return surroundings


# --- the flags ----------------------------------------------------------------------------------------------


def _number(written: str) -> float | None:
    value = float(written) if written.isascii() and "_" not in written else nan
    return value if isfinite(value) else None


_READERS: Mapping[str, tuple[Callable[[str], object], str]] = {
    TEXT: (str, "a text"),
    BOOL: (lambda written: written in TRUE if written in TRUE + FALSE else None, "true or false"),
    # Upstream: in any of Go's forms, such as 0x10 and 1_0.
    WHOLE: (lambda written: int(written, 0) if written.isascii() else None, "a whole number"),
    NUMBER: (_number, "a number"),
    DURATION: (parse_duration, "a duration such as 15s"),
}
"""Kind of flag -> the reader of its text (None or ValueError: wrong), and the words for a right one."""


@frozen
class Values:
    """The flags that were given, each as the text that was typed."""

    texts: Mapping[str, str]

    def of(self, name: str, default: T) -> T:
        """The value of a flag: true or false in any of Go's forms, a duration in seconds; *default* for one
        that was not given."""
        if name not in self.texts:
            return default
        written = self.texts[name]
        parse, expected = _READERS[FLAGS[name].kind]
        try:
            value = parse(written)
        except ValueError:
            value = None
        if value is None:
            raise _wrong(name, written, expected)
        return cast(T, value)

    def port(self, name: str, default: int) -> int:
        """A port; 0 means none."""
        port = self.of(name, default)
        if not 0 <= port <= 65535:
            raise _wrong(name, self.texts[name], "a port between 0 and 65535")
        return port


def _wrong(name: str, value: str, expected: str) -> FlagError:
    return FlagError(f'--{name}: expected {expected}, got "{value}"')


# --- what they mean -----------------------------------------------------------------------------------------


@frozen
class ElectionSettings:
    """The Lease that names the leader."""

    namespace: str = "kube-system"
    name: str = "kube-scheduler"
    times: LeaseTimes = Factory(LeaseTimes)


@frozen
class RunSettings:
    """All settings of a live scheduler, except those of its configuration about scheduling."""

    config: str = ""
    """The file of the configuration; empty: the defaults."""
    kubeconfig: str = ""
    """The kubeconfig for the API server; empty: as a pod of the cluster."""
    master: str = ""
    qps: float = 50.0
    burst: int = 100
    election: ElectionSettings | None = None
    """None: no leader is elected."""
    listeners: tuple[Listening, ...] = ()
    volume_seconds: int = 600
    """The longest wait for the volumes of a pod, where its profile names none."""
    longest_parked: float | None = None
    """Seconds after which a pod that fits nowhere is tried again; None: as the release does."""
    log_level: int = 0
    log_form: str = TEXT_LINES


def read_settings(
    texts: Mapping[str, str],
    config: Path | None = None,
    kubeconfig: Path | None = None,
    *,
    is_dry: bool = False,
) -> RunSettings:
    """The settings of flags beside a configuration; *texts*: flag -> the text that was typed.

    A dry run elects no leader, and listens only where a flag says so: it may run beside another scheduler on
    the same machine. Raises :class:`FlagError`, and what
    :func:`~kubeclassic.live.scheduler.flags.load_surroundings` raises.
    """
    flags = Values(texts)
    surroundings = ComponentSettings() if config is None else load_surroundings(str(config))
    connection = surroundings.client_connection
    form = flags.of("logging-format", TEXT_LINES)
    if form not in FORMS:
        raise _wrong("logging-format", form, " or ".join(FORMS))
    return RunSettings(
        config=str(config or ""),
        kubeconfig=connection.kubeconfig if kubeconfig is None else str(kubeconfig),
        master=flags.of("master", ""),
        qps=flags.of("kube-api-qps", connection.qps or 50.0),
        burst=flags.of("kube-api-burst", connection.burst or 100),
        election=None if is_dry else _election(flags, surroundings),
        listeners=tuple(
            listener
            for listener in _listeners(flags, surroundings)
            if not is_dry or PLACES[bool(listener.certificate)] & set(texts)
        ),
        volume_seconds=surroundings.bind_timeout_seconds,
        longest_parked=flags.of(PARKED, 0.0) if PARKED in texts else None,
        log_level=flags.of("v", 0),
        log_form=form,
    )


def _election(flags: Values, surroundings: ComponentSettings) -> ElectionSettings | None:
    config = surroundings.leader_election
    if not flags.of("leader-elect", config.leader_elect):
        return None
    times = LeaseTimes(
        lease=flags.of("leader-elect-lease-duration", config.lease_duration or 15.0),
        renew=flags.of("leader-elect-renew-deadline", config.renew_deadline or 10.0),
        retry=flags.of("leader-elect-retry-period", config.retry_period or 2.0),
    )
    if times.lease <= times.renew:
        raise FlagError("leaseDuration must be greater than renewDeadline")
    if times.renew <= JITTER * times.retry:
        raise FlagError("renewDeadline must be greater than retryPeriod*JitterFactor")
    if times.retry <= 0:
        raise FlagError("retryPeriod must be greater than zero")
    kind = flags.of("leader-elect-resource-lock", config.resource_lock or LOCK)
    if kind != LOCK:
        raise _wrong(
            "leader-elect-resource-lock", kind, f"{LOCK} (a Lease names the leader in every release)"
        )
    return ElectionSettings(
        name=flags.of(
            "leader-elect-resource-name", config.lock_object_name or config.resource_name or "kube-scheduler"
        ),
        namespace=flags.of(
            "leader-elect-resource-namespace",
            config.lock_object_namespace or config.resource_namespace or "kube-system",
        ),
        times=times,
    )


def _listeners(flags: Values, surroundings: ComponentSettings) -> Iterator[Listening]:
    """The addresses to listen on. The default is loopback, unlike upstream, as callers are not
    authenticated."""
    certificate = flags.of("tls-cert-file", "")
    key = flags.of("tls-private-key-file", "")
    if bool(certificate) != bool(key):
        raise FlagError("--tls-cert-file and --tls-private-key-file: expected both or none, got one of them")
    places = [
        _place(address)
        for address in (surroundings.healthz_bind_address, surroundings.metrics_bind_address)
        if address is not None
    ]
    plain = flags.of("address", LOOPBACK), flags.port("port", 0 if certificate else HTTP_PORT)
    is_said = not PLACES[False].isdisjoint(flags.texts)
    for address, port in dict.fromkeys([plain] if is_said else places or [plain]):
        if port:
            yield Listening(address, port, insecure=True)
    secure = flags.port("secure-port", HTTPS_PORT if certificate else 0)
    if secure and not certificate:
        raise FlagError(
            f"--secure-port: expected --tls-cert-file and --tls-private-key-file too, or --port for plain HTTP, got {secure}"
        )
    if secure:
        yield Listening(flags.of("bind-address", LOOPBACK), secure, certificate, key, insecure=True)


def _place(written: str) -> tuple[str, int]:
    """Host and port of ``host:port``; port 0 for an empty text."""
    host, colon, port = written.rpartition(":")
    if written and (not colon or not port.isdecimal() or int(port) > 65535):
        raise FlagError(
            f'healthzBindAddress or metricsBindAddress: expected an address such as 127.0.0.1:10251, got "{written}"'
        )
    return host.strip("[]") or LOOPBACK, int(port or 0)


# --- the scheduler and the API server -----------------------------------------------------------------------


def access_of(settings: RunSettings, context: str | None) -> Access:
    """The access to the API server. Raises :class:`~kubeclassic.live.client.addresses.KubeconfigError`."""
    named = access_at(settings.master, "--master") if settings.master else None
    if settings.kubeconfig:
        return read_kubeconfig(settings.kubeconfig, context, settings.master)
    if context is not None:
        raise FlagError("--context needs --kubeconfig")
    if named is not None:
        return named
    try:
        return in_cluster()
    except KubeconfigError as error:
        if not settings.config:
            raise
        raise KubeconfigError(
            f"{error}; or --kubeconfig, or clientConnection.kubeconfig in {settings.config}"
        ) from None


async def config_maps_of(spec: SchedulerSpec, link: Transport) -> ConfigMaps:
    """The ConfigMap that holds the Policy, read from the API server; none if the Policy is not in one."""
    source = spec.config.source.policy
    if source is None or source.config_map is None:
        return {}
    place = source.config_map.namespace, source.config_map.name
    try:
        return {place: await Api(link).ask("GET", resource("ConfigMap"), *place)}
    except ApiError as error:
        raise PolicyError(f"couldn't get policy config map {'/'.join(place)}: {error}") from None
