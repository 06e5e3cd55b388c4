"""Azure Traces for Packing 2020: requests for virtual machines, in an SQLite file. It has no machines: their number is given."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.fields import shown
from ...exceptions import ManifestError
from .made import Manifest, Trace, label_value, node, pod, timed
from .rows import PathLike, check_columns

VM_COLUMNS = ("vmId", "tenantId", "vmTypeId", "priority", "starttime", "endtime")
TYPE_COLUMNS = ("vmTypeId", "machineId", "core", "memory", "hdd", "ssd", "nic")
NAMESPACE = "azure"
WHOLE = 1_000_000
"""A whole machine in millionths: of its memory in units of KiB, of its cores in thousandths."""
RESOURCES = {"core": "cpu", "memory": "memory", "hdd": "azure.com/hdd", "ssd": "azure.com/ssd", "nic": "azure.com/nic"}
UNITS = {"core": "m", "memory": "Ki"}
PRIORITIES = {0: 1000, 1: 0}
"""The trace's priority, of which 0 is the high one -> the pod's."""
DAY = 86400
_MAGIC = b"SQLite format 3\x00"


@attrs.frozen(kw_only=True)
class PackingOptions:
    """What of the trace is wanted."""

    machine: int
    """The machineId of all nodes: amounts of a type of virtual machine are fractions of a machine of this kind."""
    machines: int
    days: Decimal | None = None
    """Requests after that many days are left out."""
    most: int | None = None
    """The first that many requests by time; None: all."""


def read(path: PathLike, choice: PackingOptions) -> Trace:
    """The trace as manifests; *path* is the SQLite file, or the zip file with it. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    with _database(Path(path)) as database:
        types = _types(database, str(path), choice.machine)
        trace = Trace(nodes=[_node(number) for number in range(choice.machines)])
        for values in _requests(database, str(path), choice):
            amounts = types.get(values[2])
            if amounts is None:
                trace.dropped[f"requests for types that machine {choice.machine} does not have"] += 1
            else:
                trace.pods.append(_pod(values, amounts, str(path)))
    return trace


def _node(number: int) -> Manifest:
    return node(f"machine-{number}", {RESOURCES[column]: f"{WHOLE}{UNITS.get(column, '')}" for column in RESOURCES} | {"pods": "1000"})


def _pod(values: tuple[Any, ...], amounts: Mapping[str, str], path: str) -> Manifest:
    vm, tenant, kind, priority, start, end = values
    if priority not in PRIORITIES:
        raise ManifestError(f"{path}: vm {vm}: priority: got {shown(priority)}, wanted 0 or 1")
    begun, ended = _seconds(start, path, vm), _seconds(end, path, vm)
    labels = {"tenant": label_value(str(tenant)), "type": label_value(str(kind))}
    made = pod(f"vm-{vm}", NAMESPACE, amounts, PRIORITIES[priority], labels)
    there_before = begun is None or begun < 0
    runs = None if ended is None else ended - (Decimal(0) if begun is None or there_before else begun)
    return timed(made, created=None if there_before else begun, runs=runs)


def _seconds(days: Any, path: str, vm: Any) -> Decimal | None:
    if days is None:
        return None
    if not isinstance(days, int | float):
        raise ManifestError(f"{path}: vm {vm}: got the time {shown(days)}, wanted days as a number")
    return Decimal(str(days)) * DAY


# --- the database ---------------------------------------------------------------------------------------------------


def _types(database: sqlite3.Connection, path: str, machine: int) -> dict[Any, dict[str, str]]:
    """vmTypeId -> what it takes of a machine of the kind."""
    _check(database, path, "vmType", TYPE_COLUMNS)
    columns = ", ".join(RESOURCES)
    found = list(database.execute(f"select vmTypeId, {columns} from vmType where machineId = ?", (machine,)))  # fixed names
    if not found:
        there = [str(each) for (each,) in database.execute("select distinct machineId from vmType order by machineId limit 40")]
        raise ManifestError(f"{path}: machineId: got {machine}, wanted one of {', '.join(there) or 'none: the table is empty'}")
    return {kind: dict(_amounts(values, path, kind)) for kind, *values in found}


def _amounts(values: list[Any], path: str, kind: Any) -> Iterator[tuple[str, str]]:
    for column, value in zip(RESOURCES, values, strict=True):
        if value is not None and (not isinstance(value, int | float) or not 0 <= value <= WHOLE):
            raise ManifestError(f"{path}: vmType {kind}: {column}: got {shown(value)}, wanted a part of a machine, such as 0.5")
        whole = -int(-Decimal(str(value or 0)) * WHOLE // 1)
        yield RESOURCES[column], f"{whole}{UNITS.get(column, '')}" if whole else "0"


def _requests(database: sqlite3.Connection, path: str, choice: PackingOptions) -> Iterator[tuple[Any, ...]]:
    _check(database, path, "vm", VM_COLUMNS)
    until = float(choice.days) if choice.days is not None else float("inf")
    most = -1 if choice.most is None else choice.most
    asked = f"select {', '.join(VM_COLUMNS)} from vm where starttime < ? order by starttime, vmId limit ?"  # fixed names
    yield from database.execute(asked, (until, most))


def _check(database: sqlite3.Connection, path: str, table: str, columns: tuple[str, ...]) -> None:
    there = [name for _, name, *_ in database.execute(f"pragma table_info({table})")]
    if not there:
        raise ManifestError(f"{path}: got no table {table}, wanted those of the trace: vm and vmType")
    check_columns(f"{path}, table {table}", there, columns)


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory() as folder:
        file = _unpacked(path, Path(folder))
        try:
            with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
                yield database
        except sqlite3.Error as error:
            raise ManifestError(f"{path}: cannot be read as an SQLite file: {error}") from None


def _unpacked(path: Path, folder: Path) -> Path:
    """The SQLite file itself: *path*, or the one file of a zip file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_MAGIC))
        if head == _MAGIC:
            return path
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith((".sqlite", ".db", ".sqlite3"))]
            if len(names) != 1:
                raise ManifestError(f"{path}: got a zip file with {len(names)} SQLite files, wanted one")
            with archive.open(names[0]) as source, (folder / "trace.sqlite").open("wb") as target:
                shutil.copyfileobj(source, target)
    except OSError as error:
        raise ManifestError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except zipfile.BadZipFile:
        raise ManifestError(f"{path}: got neither an SQLite file nor a zip file, wanted the trace") from None
    return folder / "trace.sqlite"
