"""What a live scheduler is started with: kube-scheduler's flags and configuration of a release, as one typed value.

Upstream: cmd/kube-scheduler/app/options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import attrs

from ...algorithmprovider.gates import FALSE, TRUE, parse_gates
from ...api.meaning.durations import parse_duration
from ...exceptions import KubeclassicError, did_you_mean
from ..process.logs import FORMS, TEXT_LINES, LogSettings
from ..settings.cells import LiveRelease
from ..settings.configdocument import Surroundings, load_surroundings
from ..settings.flagtable import BOOL, DURATION, FLAGS, NUMBER, TEXT, WHOLE
from ..settings.livereleases import LIVE_RELEASES
from .election import JITTER, LeaseTimes

T = TypeVar("T")


class FlagError(KubeclassicError):
    """A flag is unknown, wrong, or asks for what is not done."""


def check_names(given: Mapping[str, str], release: LiveRelease) -> None:
    """Raise :class:`FlagError` for a flag that *release* does not have, or that nothing here can stand for."""
    for name in given:
        if name not in release.flags:
            raise FlagError(f"unknown flag: --{name}: release {release.version} {_unknown(name, release)}")
        if FLAGS[name].is_refused:
            raise FlagError(f"--{name} is not served: {FLAGS[name].word}")


def _unknown(name: str, release: LiveRelease) -> str:
    having = [other.version for other in LIVE_RELEASES.values() if name in other.flags]
    if not having:
        return f"has no flag of that name{did_you_mean(name, release.flags)}"
    return f"does not have it, {', '.join(having)} {'do' if len(having) > 1 else 'does'}"


def _switch(written: str) -> bool | None:
    return written in TRUE if written in TRUE + FALSE else None


_READERS: Mapping[str, tuple[Callable[[str], object], str]] = {
    TEXT: (str, "a text"),
    BOOL: (_switch, "true or false"),
    WHOLE: (int, "a whole number"),
    NUMBER: (float, "a number"),
    DURATION: (parse_duration, "a duration such as 15s"),
}
"""Kind of flag -> what reads its text, with None or ValueError for a wrong one, and what is wanted."""


@attrs.frozen
class Values:
    """The flags that were given, each as the text that was typed."""

    given: Mapping[str, str]
    release: LiveRelease

    def of(self, name: str, default: T) -> T:
        """The value of a flag: true or false in any of Go's forms, a duration in seconds; *default* for one that was not given."""
        if name not in self.given:
            return default
        written, (read, wanted) = self.given[name], _READERS[FLAGS[name].kind]
        try:
            found = read(written)
        except ValueError:
            found = None
        if found is None:
            raise _wrong(name, written, wanted)
        return cast(T, found)

    def port(self, name: str, default: int) -> int:
        """A port; 0 means none."""
        found = self.of(name, default)
        if not 0 <= found <= 65535:
            raise _wrong(name, self.given[name], "a port between 0 and 65535")
        return found


def _wrong(name: str, got: str, wanted: str) -> FlagError:
    return FlagError(f'--{name}: got "{got}", wanted {wanted}')


LOOPBACK = "127.0.0.1"
PARKED = "pod-max-in-unschedulable-pods-duration"
ALWAYS = frozenset(
    {
        *("config", "master", "feature-gates", "write-config-to", "scheduler-name", "v", "logging-format", PARKED),
        *("bind-address", "secure-port", "tls-cert-file", "tls-private-key-file", "cert-dir"),
    }
)
"""Flags that count beside ``--config``."""


@attrs.frozen(kw_only=True)
class ClientSettings:
    """How the API server is reached."""

    kubeconfig: str = ""
    """Empty: as a pod of the cluster."""
    master: str = ""
    qps: float = 50.0
    burst: int = 100


@attrs.frozen(kw_only=True)
class ElectionSettings:
    """Which lock names the leader."""

    kind: str
    namespace: str = "kube-system"
    name: str = "kube-scheduler"
    times: LeaseTimes = attrs.field(factory=LeaseTimes)


@attrs.frozen(kw_only=True)
class Listener:
    """An address at which health, metrics and configuration can be asked for."""

    address: str = LOOPBACK
    port: int
    is_secure: bool = False
    """HTTPS; else plain HTTP."""
    certificate: str = ""
    """A file in PEM; empty: one is made at the start."""
    key: str = ""
    folder: str = ""
    """Where a certificate that is made is kept; empty: nowhere."""

    def line(self, port: int) -> str:
        """Says that *port* is listened on, and how."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        if not self.is_secure:
            return f"listening on http://{host}:{port}"
        shown = f"the certificate of {self.certificate}" if self.certificate else "a certificate that signs itself"
        return f"listening on https://{host}:{port} with {shown}"


@attrs.frozen(kw_only=True)
class AlgorithmSettings:
    """Which algorithm a release with predicates and priorities runs, as flags say it; without any, its default."""

    provider: str = ""
    policy_file: str = ""
    policy_config_map: tuple[str, str] | None = None
    """Namespace and name."""
    hard_pod_affinity_weight: int | None = None


@attrs.frozen(kw_only=True)
class RunSettings:
    """All that a live scheduler is started with, but for what its configuration says about scheduling."""

    release: LiveRelease
    scheduler_name: str = ""
    """Empty: as the configuration says, else ``default-scheduler``."""
    config: str = ""
    """The file of the configuration; empty: the defaults."""
    document: Mapping[str, Any] = attrs.field(factory=dict)
    """The configuration as it was read."""
    write_config_to: str = ""
    client: ClientSettings = ClientSettings()
    election: ElectionSettings | None = None
    """None: no leader is elected."""
    listeners: tuple[Listener, ...] = ()
    profiling: bool = False
    algorithm: AlgorithmSettings = AlgorithmSettings()
    gates: Mapping[str, bool] = attrs.field(factory=dict)
    longest_parked: float | None = None
    """Seconds after which a pod that fits nowhere is tried again; None: as the release does."""
    logs: LogSettings = attrs.field(factory=LogSettings)
    notes: tuple[str, ...] = ()
    """What was given and has no effect, with the reason."""


def split_flags(arguments: Sequence[str]) -> dict[str, str]:
    """Flag -> text of ``--flag=text``, ``--flag text`` and, for switches, ``--flag``; the last one of a name counts.

    >>> split_flags(["--leader-elect", "--port=0", "--config", "a.yaml", "-v=4"])
    {'leader-elect': 'true', 'port': '0', 'config': 'a.yaml', 'v': '4'}
    """
    found: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.lstrip("-").partition("=")
        if not argument.startswith("-") or not name:
            raise FlagError(f'got the argument "{argument}", wanted flags only')
        if not equals:
            is_switch = name in FLAGS and FLAGS[name].kind == BOOL
            value = "true" if is_switch else next(rest, "")
            if not is_switch and not value:
                raise FlagError(f"--{name}: got nothing, wanted a value")
        found[name] = value
    return found


def read_settings(given: Mapping[str, str], version: str) -> RunSettings:
    """The settings of release *version* that the flags *given* make, each as the text that was typed.

    Raises :class:`FlagError`, and what :func:`~kubeclassic.live.settings.configdocument.load_surroundings` raises.
    """
    release = LIVE_RELEASES[version]
    check_names(given, release)
    values = Values(given, release)
    file = values.of("config", "")
    found = load_surroundings(file, release.config_versions) if file else Surroundings()
    flags = attrs.evolve(values, given=dict(_counting(given, release))) if file else values
    return RunSettings(
        release=release,
        scheduler_name=flags.of("scheduler-name", found.scheduler_name),
        config=file,
        document=found.document,
        write_config_to=values.of("write-config-to", ""),
        client=_client(flags, found),
        election=_election(flags, found),
        listeners=tuple(_listeners(flags, found)),
        profiling=flags.of("profiling", found.enable_profiling),
        algorithm=_algorithm(flags),
        gates=parse_gates(values.of("feature-gates", "")),
        longest_parked=flags.of(PARKED, 0.0) if PARKED in flags.given else None,
        logs=_logs(values),
        notes=tuple(_notes(given, flags.given, file)),
    )


def _counting(given: Mapping[str, str], release: LiveRelease) -> Iterator[tuple[str, str]]:
    """The flags that count beside ``--config``. Upstream: the others are not read then."""
    for name, value in given.items():
        is_election = name.startswith("leader-elect") and release.config_flags
        if name in ALWAYS or is_election or FLAGS[name].word:
            yield name, value


def _notes(given: Mapping[str, str], counting: Mapping[str, str], file: str) -> Iterator[str]:
    for name in given:
        if FLAGS[name].word:
            yield f"--{name} has no effect: {FLAGS[name].word}"
        elif name not in counting:
            yield f"--{name} has no effect beside --config {file}, as in the original"


# --- the parts ------------------------------------------------------------------------------------------------------


def _client(flags: Values, found: Surroundings) -> ClientSettings:
    connection = found.client_connection
    return ClientSettings(
        kubeconfig=flags.of("kubeconfig", connection.kubeconfig),
        master=flags.of("master", ""),
        qps=flags.of("kube-api-qps", connection.qps or 50.0),
        burst=flags.of("kube-api-burst", connection.burst or 100),
    )


def _logs(flags: Values) -> LogSettings:
    form = flags.of("logging-format", TEXT_LINES)
    if form not in FORMS:
        raise FlagError(f'--logging-format: got "{form}", wanted {" or ".join(FORMS)}')
    return LogSettings(level=flags.of("v", 0), form=form)


def _election(flags: Values, found: Surroundings) -> ElectionSettings | None:
    said, cells = found.leader_election, flags.release.leader
    if not flags.of("leader-elect", said.leader_elect):
        return None
    times = LeaseTimes(
        lease=flags.of("leader-elect-lease-duration", said.lease_duration or 15.0),
        renew=flags.of("leader-elect-renew-deadline", said.renew_deadline or 10.0),
        retry=flags.of("leader-elect-retry-period", said.retry_period or 2.0),
    )
    _check_times(times)
    kind = flags.of("leader-elect-resource-lock", said.resource_lock or cells.default_lock)
    if kind not in cells.locks:
        raise FlagError(f"couldn't create resource lock: {cells.removed_locks.get(kind, f'Invalid lock-type {kind}')}")
    name = said.lock_object_name or said.resource_name or "kube-scheduler"
    namespace = said.lock_object_namespace or said.resource_namespace or "kube-system"
    return ElectionSettings(
        kind=kind,
        name=flags.of("leader-elect-resource-name", flags.of("lock-object-name", name)),
        namespace=flags.of("leader-elect-resource-namespace", flags.of("lock-object-namespace", namespace)),
        times=times,
    )


def _check_times(times: LeaseTimes) -> None:
    if times.lease <= times.renew:
        raise FlagError("leaseDuration must be greater than renewDeadline")
    if times.renew <= JITTER * times.retry:
        raise FlagError("renewDeadline must be greater than retryPeriod*JitterFactor")
    if times.retry <= 0:
        raise FlagError("retryPeriod must be greater than zero")


def _listeners(flags: Values, found: Surroundings) -> Iterator[Listener]:
    """Where to listen. Without an address it is loopback, other than upstream, as callers are not asked who they are."""
    serving, certificate, key = flags.release.serving, flags.of("tls-cert-file", ""), flags.of("tls-private-key-file", "")
    if bool(certificate) != bool(key):
        raise FlagError("--tls-cert-file and --tls-private-key-file: got one of them, wanted both or none")
    if serving.port:
        places = [_place(address) for address in (found.healthz_bind_address, found.metrics_bind_address) if address is not None]
        given = (flags.of("address", LOOPBACK), flags.port("port", serving.port))
        for address, port in dict.fromkeys(places or [given]):
            if port:
                yield Listener(address=address, port=port)
    if port := flags.port("secure-port", serving.secure_port):
        secure, folder = flags.of("bind-address", LOOPBACK), flags.of("cert-dir", "")
        yield Listener(address=secure, port=port, is_secure=True, certificate=certificate, key=key, folder=folder)


def _place(written: str) -> tuple[str, int]:
    """Host and port of ``host:port``; port 0 for an empty text."""
    host, colon, port = written.rpartition(":")
    if written and (not colon or not port.isdecimal() or int(port) > 65535):
        raise FlagError(f'healthzBindAddress or metricsBindAddress: got "{written}", wanted an address such as 127.0.0.1:10251')
    return (host.strip("[]") or LOOPBACK), int(port or 0)


def _algorithm(flags: Values) -> AlgorithmSettings:
    """Upstream: the Policy's file with ``--use-legacy-policy-config`` or without a ConfigMap, then the ConfigMap, then the provider."""
    file, config_map = flags.of("policy-config-file", ""), flags.of("policy-configmap", "")
    is_legacy = flags.of("use-legacy-policy-config", False)
    if is_legacy and not file:
        raise FlagError("policyConfigFile: Required value: required when --use-legacy-policy-config is true")
    weight = flags.of("hard-pod-affinity-symmetric-weight", 0) if "hard-pod-affinity-symmetric-weight" in flags.given else None
    if file and (is_legacy or not config_map):
        return AlgorithmSettings(policy_file=file, hard_pod_affinity_weight=weight)
    if config_map:
        place = (flags.of("policy-configmap-namespace", "kube-system") or "kube-system", config_map)
        return AlgorithmSettings(policy_config_map=place, hard_pod_affinity_weight=weight)
    return AlgorithmSettings(provider=flags.of("algorithm-provider", ""), hard_pod_affinity_weight=weight)
