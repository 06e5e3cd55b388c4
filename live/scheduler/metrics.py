"""What a scheduler counts and measures, by the names of its release, so that old dashboards work.

A release shows what it has; what it does not know is taken and not shown. prometheus-client counts. Its own text differs where dashboards
would see it: counters get the suffix ``_total``, bounds read ``1000.0``; so the text is made here, with numbers as Go writes them.

Upstream: pkg/scheduler/metrics, and finalURLTemplate of k8s.io/client-go/rest/request.go.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from ..client.transport import MeasuredRequest, Request
from ..process.metrictables import COUNTER, GAUGE, HISTOGRAM, SUMMARY, Feed, Metric
from ..process.middlemetrics import ALL_GROUPS
from ..settings.cells import LiveRelease

PREFIX = "/%7Bprefix%7D"
"""What releases show whose client takes every path for one that it does not know."""
_OWN = ("finalize", "status")
"""What comes after the name of an object without a namespace, or is not a name itself."""


def url_template(request: Request) -> str:
    """The path and query of *request* with placeholders.

    >>> url_template(Request("GET", "/api/v1/nodes", "limit=500&resourceVersion=0"))
    '/api/v1/nodes?limit=%7Bvalue%7D&resourceVersion=%7Bvalue%7D'
    >>> url_template(Request("POST", "/api/v1/namespaces/shop/pods/web-1/binding"))
    '/api/v1/namespaces/%7Bnamespace%7D/pods/%7Bname%7D/binding'
    >>> url_template(Request("PATCH", "/api/v1/nodes/a/status")), url_template(Request("GET", "/version"))
    ('/api/v1/nodes/%7Bname%7D/status', '/version')
    """
    segments = request.path.split("/")
    query = urlencode(sorted(dict.fromkeys((key for key, _ in parse_qsl(request.query, keep_blank_values=True)), "{value}").items()))
    asked = f"?{query}" if query else ""
    if len(segments) <= 2:  # a path of one part
        return f"{quote(request.path)}{asked}"
    if segments[1] not in ("api", "apis"):
        return PREFIX
    index = 3 if segments[1] == "api" else 4
    _replace(segments, index)
    return f"{quote('/'.join(segments))}{asked}"


def _replace(segments: list[str], index: int) -> None:
    """Put placeholders into *segments*, of which that at *index* is the resource, or ``namespaces``."""
    left = len(segments) - index
    if left == 2:  # resource, name
        segments[index + 1] = "{name}"
    elif left == 3:  # resource, name, its part; or namespaces, namespace, resource
        segments[index + 1] = "{name}" if segments[index + 2] in _OWN else "{namespace}"
    elif left > 3:  # namespaces, namespace, resource, name
        segments[index + 1] = "{namespace}"
        if segments[index + 3] not in _OWN:
            segments[index + 3] = "{name}"


QUANTILES = (0.5, 0.9, 0.99)
MOST_KEPT = 5000
"""How many of the latest values quantiles are computed from."""
LAST = ("le", "quantile")
"""Labels that come after the others."""


def go_number(value: float) -> str:
    """A number as Go writes it at its shortest.

    >>> go_number(3), go_number(1024000), go_number(0.001), go_number(3.6449e-05), go_number(math.inf), go_number(-2.5)
    ('3', '1.024e+06', '0.001', '3.6449e-05', '+Inf', '-2.5')
    """
    if math.isinf(value) or math.isnan(value):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    power = len(digits) + int(exponent) - 1
    if -4 <= power < 6:
        return format(Decimal(repr(float(value))).normalize(), "f")
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{'-' if sign else ''}{first}{'.' + rest if rest else ''}e{'-' if power < 0 else '+'}{abs(power):02d}"


@attrs.frozen
class Sample:
    """One number."""

    suffix: str
    """What follows the metric's name, such as ``_bucket``."""
    labels: Mapping[str, str]
    value: float


def lines(name: str, kind: str, help: str, samples: Iterable[Sample]) -> Iterator[str]:
    """The lines of one metric; none if it has no samples."""
    for i, sample in enumerate(samples):
        if i == 0:
            yield f"# HELP {name} {_escaped(help, quotes=False)}"
            yield f"# TYPE {name} {kind}"
        labels = sorted(sample.labels.items(), key=lambda item: (item[0] in LAST, item[0]))
        shown = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels)
        yield f"{name}{sample.suffix}{'{' + shown + '}' if shown else ''} {go_number(sample.value)}"


def _escaped(text: str, quotes: bool = True) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


@attrs.define
class Quantiles:
    """A summary with quantiles, which prometheus-client does not have: of the latest values, exact."""

    count: int = 0
    sum: float = 0.0
    _latest: deque[float] = attrs.field(factory=lambda: deque(maxlen=MOST_KEPT))

    def observe(self, value: float) -> None:
        """Add a value."""
        self.count += 1
        self.sum += value
        self._latest.append(value)

    def samples(self, labels: Mapping[str, str]) -> Iterator[Sample]:
        """The quantiles, the sum and the count."""
        ordered = sorted(self._latest)
        for share in QUANTILES:
            value = ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan
            yield Sample("", {**labels, "quantile": go_number(share)}, value)
        yield Sample("_sum", labels, self.sum)
        yield Sample("_count", labels, self.count)


ALWAYS = ("events",)
"""The groups of metrics of every release."""
MOST_MEMORY = "process_virtual_memory_max_bytes"


class SchedulerMetrics:
    """All metrics of one scheduler, in a registry of its own. Times are in seconds."""

    def __init__(self, release: LiveRelease, *, with_process: bool = True) -> None:
        """The metrics of *release*, all 0; *with_process*: those of this process too, where the system has them."""
        self.release, self._with_process = release, with_process
        self.on_read: Callable[[], None] = lambda: None
        """Called before the metrics are written, to set what is only known then."""
        self.reset()

    def reset(self) -> None:
        """Set everything back, as ``DELETE /metrics`` does."""
        self._registry = CollectorRegistry()
        names = (*self.release.metrics, *self.release.client_metrics, *ALWAYS)
        self._instruments = [_instrument(metric, self._registry) for name in names for metric in ALL_GROUPS[name]]
        self._fed: dict[Feed, list[_Instrument]] = {}
        for instrument in self._instruments:
            self._fed.setdefault(instrument.metric.feed, []).append(instrument)
        self._process = CollectorRegistry()
        if self._with_process:
            ProcessCollector(registry=self._process)

    def text(self) -> str:
        """What ``/metrics`` answers."""
        self.on_read()
        found = {instrument.metric.name: "\n".join(instrument.lines(self.release.stability)) for instrument in self._instruments}
        found.update(self._process_lines())
        return "".join(f"{found[name]}\n" for name in sorted(found) if found[name])

    def _process_lines(self) -> Iterator[tuple[str, str]]:
        for family in self._process.collect():
            name = f"{family.name}_total" if family.type == COUNTER else family.name
            samples = [Sample("", sample.labels, sample.value) for sample in family.samples]
            yield name, "\n".join(lines(name, family.type, family.documentation, samples))
        if self._with_process and (most := _most_memory()) is not None:
            help = "Maximum amount of virtual memory available in bytes."
            yield MOST_MEMORY, "\n".join(lines(MOST_MEMORY, GAUGE, help, [Sample("", {}, most)]))

    def feed(self, feed: Feed, value: float, **labels: str) -> None:
        """Count or measure *value* by *labels*, of which a metric takes those that it has."""
        for instrument in self._fed.get(feed, ()):
            instrument.take(value, labels)

    # --- requests ---------------------------------------------------------------------------------------------------

    def request(self, found: MeasuredRequest, server: str) -> None:
        """The API server at the URL *server* was asked."""
        method, host = found.request.method, urlsplit(server).netloc
        self.feed(Feed.REQUEST, 1, method=method, code=str(found.status) if found.status else "<error>", host=host)
        if found.is_stream:  # Upstream: watches are counted, and not measured.
            return
        self.feed(Feed.REQUEST_TIME, found.seconds, verb=method, host=host, url=server + PREFIX)
        if Feed.TEMPLATE_TIME in self._fed:
            self.feed(Feed.TEMPLATE_TIME, found.seconds, verb=method, url=server + url_template(found.request))
        self.feed(Feed.REQUEST_SIZE, len(found.request.body), verb=method, host=host)
        if found.status:
            self.feed(Feed.ANSWER_SIZE, found.size, verb=method, host=host)

    def retried(self, method: str, code: int, server: str) -> None:
        """A request is sent again, as it was answered with *code*; 0: it was not answered."""
        self.feed(Feed.RETRY, 1, code=str(code) if code else "<error>", verb=method, host=urlsplit(server).netloc)

    def waited(self, request: Request, seconds: float, server: str) -> None:
        """A request had to wait for its turn, so that the API server gets no more than the limit."""
        self.feed(Feed.WAIT, seconds, verb=request.method, host=urlsplit(server).netloc)
        if Feed.TEMPLATE_WAIT in self._fed:
            self.feed(Feed.TEMPLATE_WAIT, seconds, verb=request.method, url=server + url_template(request))


@attrs.define(eq=False)
class _Instrument:
    """A metric and its numbers."""

    metric: Metric
    counted: Counter | Gauge | Histogram | None
    summaries: dict[tuple[str, ...], Quantiles] = attrs.field(factory=dict)
    kept: dict[tuple[str, ...], Callable[[float], None]] = attrs.field(factory=dict)

    def take(self, value: float, labels: Mapping[str, str]) -> None:
        """Count or measure *value*."""
        values = tuple([labels[name] for name in self.metric.labels])
        put = self.kept.get(values)
        if put is None:
            put = self.kept[values] = self._put(values)
        put(value)

    def _put(self, values: tuple[str, ...]) -> Callable[[float], None]:
        """What takes a value for these values of the labels; looked up once, as requests are many."""
        if self.counted is None:
            return self.summaries.setdefault(values, Quantiles()).observe
        child, scale = self.counted.labels(*values) if values else self.counted, self.metric.scale
        if isinstance(child, Histogram):
            return child.observe if scale == 1 else lambda value: child.observe(int(value * scale))
        if isinstance(child, Gauge) and self.metric.kind == GAUGE:
            return child.set
        return child.inc

    def lines(self, has_stability: bool) -> Iterator[str]:
        """The metric as text."""
        metric = self.metric
        help = f"[{metric.stability}] {metric.help}" if has_stability and metric.stability else metric.help
        return lines(metric.name, metric.kind, help, self._samples())

    def _samples(self) -> Iterator[Sample]:
        if self.counted is None:
            for values in sorted(self.summaries):
                yield from self.summaries[values].samples(dict(zip(self.metric.labels, values, strict=True)))
            return
        for family in self.counted.collect():
            for sample in family.samples:
                if not sample.name.endswith("_created"):
                    labels = {key: go_number(float(value)) if key == "le" else value for key, value in sample.labels.items()}
                    yield Sample(sample.name.removeprefix(self.metric.name), labels, sample.value)


def _most_memory() -> float | None:
    """The bytes of virtual memory that this process may have, -1 without a limit; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return -1.0 if most == resource.RLIM_INFINITY else float(most)


def _instrument(metric: Metric, registry: CollectorRegistry) -> _Instrument:
    if metric.kind == SUMMARY:
        return _Instrument(metric, None)
    made: Counter | Gauge | Histogram
    if metric.kind == HISTOGRAM:
        made = Histogram(metric.name, metric.help, metric.labels, registry=registry, buckets=metric.buckets)
    elif metric.kind == COUNTER and metric.name.endswith("_total"):
        made = Counter(metric.name, metric.help, metric.labels, registry=registry)
    else:  # prometheus-client would add _total to the names of other counters.
        made = Gauge(metric.name, metric.help, metric.labels, registry=registry)
    for values in metric.starts:
        made.labels(*values)
    return _Instrument(metric, made)
