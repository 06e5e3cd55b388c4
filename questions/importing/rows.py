"""Tables of traces, row by row: CSV files with named columns, whose values are read with errors that say
file, line and column; a map of the columns of any table; and the columns of openb."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import IO, Any

import attrs

from ...api.reading import PathLike, read_documents, shown
from ...api.reading.formats.files import check_size
from ...exceptions import ManifestError, did_you_mean
from ..replay.times import CREATION_TIME, DELETION_TIME, RUN_TIME

Manifest = dict[str, Any]
Texts = Mapping[str, str]
"""Texts by the name of a resource, label or column."""
HOSTNAME = "kubernetes.io/hostname"
GIB = 1 << 30
PODS_PER_NODE = "110"
NO_LABELS: Texts = {}
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]+")
_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_.-]+")


# Readers of traces make nodes and pods as manifests, with times in annotations, and count dropped parts.


@attrs.define(repr=False)
class Trace:
    """A trace as manifests."""

    nodes: list[Manifest] = attrs.Factory(list)
    pods: list[Manifest] = attrs.Factory(list)
    others: list[Manifest] = attrs.Factory(list)
    dropped: Counter[str] = attrs.Factory(Counter)
    """Part of the trace that has no place in manifests -> how often."""

    def document(self) -> Manifest:
        """All manifests as one ``v1`` ``List``: others, nodes, pods."""
        return {"apiVersion": "v1", "kind": "List", "items": [*self.others, *self.nodes, *self.pods]}


def object_name(text: str) -> str:
    """*text* as the name of an object: small letters, digits, dots and dashes.

    >>> object_name("App_17/instance 3"), object_name("--")
    ('app-17-instance-3', 'unnamed')
    """
    return _NOT_IN_NAMES.sub("-", text.lower()).strip("-.")[:253].rstrip("-.") or "unnamed"


def label_value(text: str) -> str:
    """*text* as the value of a label.

    >>> label_value("A100-SXM4 80GB")
    'A100-SXM4-80GB'
    """
    return _NOT_IN_LABELS.sub("-", text).strip("-._")[:63].rstrip("-._")


def whole(amount: Decimal) -> str:
    """*amount* rounded up to a whole number, as a quantity."""
    return str(amount.to_integral_value(ROUND_CEILING))


def cores(amount: Decimal) -> str:
    """Cores as a quantity, rounded up to thousandths.

    >>> cores(Decimal("0.25")), cores(Decimal("2")), cores(Decimal("0.0001"))
    ('250m', '2', '1m')
    """
    milli = int((amount * 1000).to_integral_value(ROUND_CEILING))
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def gibibytes(amount: Decimal) -> str:
    """GiB as a quantity, rounded up to bytes.

    >>> gibibytes(Decimal("1.5")), gibibytes(Decimal("0.0001"))
    ('1536Mi', '107375')
    """
    size = int((amount * GIB).to_integral_value(ROUND_CEILING))
    return f"{size >> 20}Mi" if size % (1 << 20) == 0 else str(size)


def node(name: str, amounts: Texts, labels: Texts) -> Manifest:
    """A node that is ready, with the *labels* that are not empty; 110 pods unless *amounts* has another
    number."""
    room = {**amounts} if "pods" in amounts else {**amounts, "pods": PODS_PER_NODE}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **_non_empty(labels)}},
        "status": {
            "allocatable": room,
            "capacity": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, namespace: str, amounts: Texts, priority: int = 0, labels: Texts = NO_LABELS) -> Manifest:
    """A pending pod with one container that requests *amounts*; amounts of 0 and empty labels are left
    out."""
    requests = {resource: amount for resource, amount in amounts.items() if amount not in ("0", "0m", "0Mi")}
    filled = _non_empty(labels)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **({"labels": filled} if filled else {})},
        "spec": {"containers": [{"name": "main", "resources": {"requests": requests}}], "priority": priority},
    }


def _non_empty(labels: Texts) -> dict[str, str]:
    return {name: value for name, value in labels.items() if value}


def timed(
    item: Manifest, *, created: Decimal | None, deleted: Decimal | None, runs: Decimal | None
) -> Manifest:
    """*item* with its times in seconds, as far as they are known."""
    times = {CREATION_TIME: created, DELETION_TIME: deleted, RUN_TIME: runs}
    marks = {name: plain(max(seconds, Decimal(0))) for name, seconds in times.items() if seconds is not None}
    if marks:
        item["metadata"]["annotations"] = marks
    return item


def plain(number: Decimal) -> str:
    """*number* without an exponent and trailing zeros, with six decimals at most.

    >>> plain(Decimal("1.500")), plain(Decimal("1E+3"))
    ('1.5', '1000')
    """
    text = f"{number:.6f}"
    return text.rstrip("0").rstrip(".")


LONGEST = 80
"""The most characters of a list of columns in a message."""
MOST_DIGITS = 15
"""The most digits of a number in a trace: bytes of that many GiB can still be counted."""
A_WHOLE_NUMBER = "a whole number"
A_PRIORITY = "a whole number of 32 bits"
MOST_COPIES = 500_000
"""The most pods or nodes that one row can stand for."""


@attrs.frozen(repr=False)
class TraceRow:
    """The values of a row by column, and its place for messages."""

    values: Texts
    """Column -> value, without white space around it."""
    where: str

    def text(self, column: str) -> str:
        """The value of *column*, empty where the row or the table does not have it."""
        return self.values.get(column, "")

    def name(self, column: str) -> str:
        """The value of *column*, which is required."""
        value = self.text(column)
        if not value:
            raise self.error(column, "a name")
        return value

    def number(self, column: str, expected: str = "a number") -> Decimal | None:
        """The number in *column*, of any sign; None where it is empty, or says that there is none (``null``,
        ``nan``)."""
        text = self.text(column)
        if text.lower() in ("", "null", "nan", "none"):
            return None
        try:
            number = Decimal(text) if text.isascii() else Decimal("nan")
        except InvalidOperation:
            raise self.error(column, expected) from None
        if not number.is_finite() or number.adjusted() >= MOST_DIGITS:
            raise self.error(column, f"{expected} of at most {MOST_DIGITS} digits")
        return number

    def amount(self, column: str) -> Decimal:
        """The number in *column*, 0 or more; 0 where it is empty."""
        number = self.number(column) or Decimal(0)
        if number < 0:
            raise self.error(column, "a number of 0 or more")
        return number

    def whole(self, column: str) -> int:
        """The whole number in *column*, 0 or more; 0 where it is empty."""
        number = self.number(column, A_WHOLE_NUMBER)
        value = number or Decimal(0)
        if (number is None and self.text(column)) or value < 0 or value != value.to_integral_value():
            raise self.error(column, A_WHOLE_NUMBER)
        return int(value)

    def seconds(self, column: str) -> Decimal | None:
        """The whole number of seconds in *column*; None where it is empty."""
        return Decimal(self.whole(column)) if self.text(column) else None

    def time(self, column: str) -> Decimal | None:
        """The seconds in *column*, 0 or more; None where there is none."""
        return self.amount(column) if column and self.number(column) is not None else None

    def copies(self, column: str) -> int:
        """The number of pods or nodes that the row stands for."""
        if not self.text(column):
            raise self.error(column, A_WHOLE_NUMBER)
        count = self.whole(column)
        if count > MOST_COPIES:
            raise self.error(column, f"{MOST_COPIES:,} at most")
        return count

    def error(self, column: str, expected: str) -> ManifestError:
        """The error that the value of *column* is not as *expected*."""
        value = shown(self.text(column)) if self.text(column) else "nothing"
        return ManifestError(f"{self.where}: {column}: expected {expected}, got {value}")


def read_rows(path: PathLike, needed: Sequence[str]) -> Iterator[TraceRow]:
    """The rows of a CSV file, whose first line names the columns. Raises
    :class:`~kubeclassic.exceptions.ManifestError`.

    Columns that are *needed* must be among these; a row may end early, and lines without values are skipped.
    """
    with opened(path) as file:
        lines = csv.reader(file)
        header = [column.strip() for column in next(lines, [])]
        twice = next((column for column in needed if header.count(column) > 1), None)
        if twice is not None:
            raise ManifestError(f"{path}, line 1: expected column {twice} once, got {columns_text(header)}")
        missing = [column for column in needed if column not in header]
        if missing:
            raise ManifestError(
                f"{path}, line 1: expected the columns {','.join(missing)} too, got {columns_text(header)}"
            )
        for values in lines:
            where = f"{path}, line {lines.line_num}"
            if len(values) > len(header):
                raise ManifestError(f"{where}: expected at most {len(header)} values, got {len(values)}")
            cells = list(map(str.strip, values))
            if any(cells):
                yield TraceRow(dict(zip(header, cells, strict=False)), where)


def columns_text(columns: Sequence[str]) -> str:
    """The names of columns, as messages say them."""
    text = ",".join(columns) or "none"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}..."


@contextmanager
def opened(path: PathLike) -> Iterator[IO[str]]:
    """A CSV file; errors of the system and of CSV become :class:`~kubeclassic.exceptions.ManifestError` with
    *path*."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            check_size(file, str(path))
            yield file
    except OSError as error:
        raise ManifestError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path}: expected CSV in UTF-8, got bytes that are no text") from None
    except csv.Error as error:
        raise ManifestError(f"{path}: broken CSV: {error}") from None


# --- a map of columns ---------------------------------------------------------------------------------------


SINGLE = ("name", "namespace", "priority", "created", "deleted", "runs", "count")
"""The fields of a map that name one column."""
FIELDS = ("kind", *SINGLE, "requests", "labels", "nodeSelector", "priorities")
OF_PODS = ("namespace", "priority", "priorities", "nodeSelector")
KINDS = ("pods", "nodes")
UNITS: Mapping[str, Callable[[Decimal], str]] = {
    "cores": cores,
    "millicores": lambda amount: cores(amount / 1000),
    "bytes": whole,
    "KiB": lambda amount: f"{plain(amount)}Ki",
    "MiB": lambda amount: gibibytes(amount / 1024),
    "GiB": gibibytes,
    "pieces": whole,
}
DEFAULT_UNITS = {"cpu": "cores", "memory": "bytes", "ephemeral-storage": "bytes"}
_AMOUNT = re.compile(
    r"(?P<column>.+?)(?:\s*\*\s*(?P<factor>[0-9]{1,9}(?:\.[0-9]{1,9})?))?(?:\s+in\s+(?P<unit>\w+))?"
)


@attrs.frozen
class AmountColumn:
    """A column with the amount of a resource, its factor and unit."""

    column: str
    unit: str
    factor: Decimal

    def of(self, row: TraceRow) -> str:
        """The quantity in *row*."""
        return UNITS[self.unit](row.amount(self.column) * self.factor)


@attrs.frozen(kw_only=True)
class ColumnMap:
    """A map of columns to their meaning; empty where a table lacks one."""

    kind: str
    name: str
    namespace: str = ""
    priority: str = ""
    created: str = ""
    deleted: str = ""
    runs: str = ""
    count: str = ""
    requests: Mapping[str, AmountColumn]
    labels: Texts
    node_selector: Texts
    priorities: Mapping[str, int]
    """Word in the column of priorities -> priority; empty: the column has numbers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that the map names."""
        single = (self.name, self.namespace, self.priority, self.created, self.deleted, self.runs, self.count)
        amounts = tuple(amount.column for amount in self.requests.values())
        return tuple(
            column
            for column in (*single, *amounts, *self.labels.values(), *self.node_selector.values())
            if column
        )


def read_map(path: PathLike) -> ColumnMap:
    """The map in a YAML or JSON file. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    documents = list(read_documents([path]))
    where = str(path)
    data = documents[0].data if len(documents) == 1 else {}
    if len(documents) > 1 or not isinstance(data, dict):
        value = f"{len(documents)} documents" if len(documents) > 1 else shown(data)
        raise ManifestError(f"{where}: expected one map of columns, got {value}")
    if documents and documents[0].repeated:
        raise ManifestError(f"{where}: expected {documents[0].repeated[0]} once, got it twice")
    for name in data:
        if name not in FIELDS:
            raise ManifestError(
                f"{where}: expected {', '.join(FIELDS)}, got {shown(name)}{did_you_mean(str(name), FIELDS)}"
            )
    kind = data.get("kind", "pods")
    if kind not in KINDS:
        raise ManifestError(f"{where}: kind: expected pods or nodes, got {shown(kind)}")
    for name in OF_PODS if kind == "nodes" else ():
        if data.get(name):
            raise ManifestError(f"{where}: {name}: expected it for pods alone, got it for nodes")
    if not data.get("name"):
        raise ManifestError(f"{where}: name: expected the column with the names, got nothing")
    texts = {name: _text(data.get(name), f"{where}: {name}") for name in SINGLE}
    requests = {}
    for resource, text in _texts(data, "requests", where).items():
        amount = _AMOUNT.fullmatch(text)
        unit = (amount["unit"] if amount else None) or DEFAULT_UNITS.get(resource, "pieces")
        if amount is None or unit not in UNITS:
            expected = f"COLUMN or COLUMN in UNIT, or COLUMN * NUMBER in UNIT, with one of {', '.join(UNITS)}"
            raise ManifestError(f"{where}: requests.{resource}: expected {expected}, got {shown(text)}")
        requests[resource] = AmountColumn(amount["column"], unit, Decimal(amount["factor"] or 1))
    selector = _texts(data, "nodeSelector", where)
    numbers_by_word = data.get("priorities") or {}
    are_numbers = isinstance(numbers_by_word, dict) and all(
        type(number) is int and is_priority(number) for number in numbers_by_word.values()
    )
    if not are_numbers or (numbers_by_word and not data.get("priority")):
        expected = "words of the column that priority names, with numbers of 32 bits"
        raise ManifestError(f"{where}: priorities: expected {expected}, got {shown(numbers_by_word)}")
    labels = _texts(data, "labels", where)
    priorities = {str(word): value for word, value in numbers_by_word.items()}
    return ColumnMap(
        kind=kind, **texts, requests=requests, labels=labels, node_selector=selector, priorities=priorities
    )


def read_table(table: PathLike, columns: ColumnMap) -> Trace:
    """The table as manifests. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the
    line and the column."""
    trace = Trace()
    identities = set()
    for row in read_rows(table, columns.columns):
        count = row.copies(columns.count) if columns.count else 1
        if not count:
            trace.dropped["rows of no copies"] += 1
        name = object_name(row.name(columns.name))
        for number in range(count):
            manifest = _manifest_of(row, columns, f"{name}-{number}" if columns.count else name)
            identity = manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]
            if identity in identities:
                raise ManifestError(
                    f"{row.where}: {columns.name}: expected each name once, got {shown(identity[1])} again"
                )
            identities.add(identity)
            (trace.nodes if columns.kind == "nodes" else trace.pods).append(manifest)
    return trace


def _manifest_of(row: TraceRow, columns: ColumnMap, name: str) -> Manifest:
    """The manifest of *row* that is called *name*."""
    amounts = {resource: amount.of(row) for resource, amount in columns.requests.items()}
    labels = {key: label_value(row.text(column)) for key, column in columns.labels.items()}
    if columns.kind == "nodes":
        manifest = node(name, amounts, labels)
    else:
        namespace = row.text(columns.namespace)
        priority = 0
        if columns.priorities:
            word = row.text(columns.priority)
            if word not in columns.priorities:
                raise row.error(columns.priority, " or ".join(columns.priorities))
            priority = columns.priorities[word]
        elif columns.priority:
            number = row.number(columns.priority) or Decimal(0)
            if number % 1 or not is_priority(int(number)):
                raise row.error(columns.priority, A_PRIORITY)
            priority = int(number)
        manifest = pod(name, object_name(namespace) if namespace else "default", amounts, priority, labels)
        selector = {
            key: label_value(row.text(column))
            for key, column in columns.node_selector.items()
            if row.text(column)
        }
        if selector:
            manifest["spec"]["nodeSelector"] = selector
    created, deleted, runs = map(row.time, (columns.created, columns.deleted, columns.runs))
    return timed(manifest, created=created, deleted=deleted, runs=runs)


def is_priority(number: int) -> bool:
    """Whether *number* may be a priority: it has 32 bits."""
    return -(1 << 31) <= number < 1 << 31


def _texts(data: Mapping[str, Any], name: str, where: str) -> dict[str, str]:
    entries = data.get(name) or {}
    if not isinstance(entries, dict):
        raise ManifestError(f"{where}: {name}: expected names with columns, got {shown(entries)}")
    texts = {str(key): _text(value, f"{where}: {name}.{key}") for key, value in entries.items()}
    if empty := next((key for key, text in texts.items() if not text), None):
        raise ManifestError(f"{where}: {name}.{empty}: expected the name of a column, got nothing")
    return texts


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ManifestError(f"{where}: expected the name of a column, got {shown(value)}")
    return value.strip()


# --- openb, the trace of Alibaba's GPU clusters (cluster-trace-gpu-v2023): nodes and pods -------------------


GPU_MILLI = "alibabacloud.com/gpu-milli"
GPU_MODEL = "alibabacloud.com/gpu-card-model"
WHOLE_GPU = 1000

NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib")
"""The required columns; also read: gpu, model."""
POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
"""The required columns; also read: gpu_spec, creation_time, deletion_time, scheduled_time."""


def manifests(nodes: PathLike, pods: PathLike) -> Manifest:
    """The nodes and pods of the trace as one ``v1`` ``List``; see :func:`read`."""
    return read(nodes, pods).document()


def read(nodes: PathLike, pods: PathLike) -> Trace:
    """The trace as manifests: nodes in the order of the file, pods by creation time, then name.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the line and the column.
    """
    trace = Trace()
    for row in _checked_rows(nodes, NODE_COLUMNS):
        gpus = row.whole("gpu")
        room = {**_amounts(row), "pods": PODS_PER_NODE}
        if gpus:
            room |= {"alibabacloud.com/gpu-count": str(gpus), GPU_MILLI: str(gpus * WHOLE_GPU)}
        trace.nodes.append(node(row.name("sn"), room, {GPU_MODEL: row.text("model")}))
    pod_rows = sorted(
        _checked_rows(pods, POD_COLUMNS), key=lambda row: (row.whole("creation_time"), row.name("name"))
    )
    for row in pod_rows:
        amounts = _amounts(row)
        if gpus := row.whole("num_gpu"):
            amounts[GPU_MILLI] = str(gpus * min(row.whole("gpu_milli"), WHOLE_GPU))
        manifest = pod(row.name("name"), "openb", {})
        spec = manifest["spec"]
        spec["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        if models := row.text("gpu_spec"):
            terms = {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": GPU_MODEL, "operator": "In", "values": models.split("|")}]}
                ]
            }
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        # When the pod came and went and for how long it ran, in seconds, as far as the trace says.
        began = row.seconds("scheduled_time")
        ended = row.seconds("deletion_time")
        runs = None if began is None or ended is None else ended - began
        trace.pods.append(timed(manifest, created=row.seconds("creation_time"), deleted=ended, runs=runs))
    return trace


def listed_in(path: PathLike) -> str:
    """The kind of rows in a file of the trace, by its columns: ``nodes`` or ``pods``."""
    with opened(path) as file:
        header = [column.strip() for column in next(csv.reader(file), [])]
    for kind, columns in (("nodes", NODE_COLUMNS), ("pods", POD_COLUMNS)):
        if columns[0] in header:
            return kind
    raise ManifestError(
        f"{path}, line 1: expected the columns of nodes (sn, ...) or of pods (name, ...), got {columns_text(header)}"
    )


def _checked_rows(path: PathLike, columns: tuple[str, ...]) -> Iterator[TraceRow]:
    """The rows, each with a value in all of *columns* and with a name of its own."""
    names = set()
    for row in read_rows(path, columns):
        for column in columns:
            if not row.text(column):
                raise row.error(column, "a value")
        name = row.text(columns[0])
        if name in names:
            raise ManifestError(
                f"{row.where}: {columns[0]}: expected each name once, got {shown(name)} again"
            )
        names.add(name)
        yield row


def _amounts(row: TraceRow) -> dict[str, str]:
    return {"cpu": f"{row.whole('cpu_milli')}m", "memory": f"{row.whole('memory_mib')}Mi"}
