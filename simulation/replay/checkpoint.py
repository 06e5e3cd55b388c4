"""The whole state of a replay in a file. A replay that resumes from it ends as if it had never stopped.

The file is a line of JSON, the header, and a pickle. A pickle can run code: read only checkpoints that you made yourself. What can be
computed again is left out (cached answers of rules, counts over pods), and so is what follows from inputs and options.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from ...core.arrays.batch import Batch
from ...core.arrays.census import Census
from ...core.arrays.columns import Column
from ...core.cluster.order import RoundOrder
from ...core.incremental.answers import AnswerCache
from ...core.incremental.scoreboards import Scoreboards
from ...core.pods.template import Template
from ...core.preemption.layout import PodLayout
from ...exceptions import KubeclassicError

MAGIC = "kubeclassic checkpoint"
FORMAT = 6
"""Goes up with every change of what a checkpoint holds or means."""
REBUILT: Mapping[type, tuple[str, ...]] = {
    Batch: ("table", "rows"),
    Template: tuple(field.name for field in attrs.fields(Template) if field.init and field.name != "notes"),
    AnswerCache: ("table", "limit"),
    Scoreboards: ("answers", "limit"),
    RoundOrder: ("cache", "table"),
    PodLayout: ("table", "by_start_time"),
}
"""Classes that are rebuilt from these attributes; everything else in them is computed again when it is needed."""


NOT_GIVEN = str(None)
"""How a header tells an option without a value."""


class CheckpointError(KubeclassicError):
    """A checkpoint cannot be written, or a replay cannot resume from it; the text says why."""


@attrs.frozen(kw_only=True)
class Header:
    """What a checkpoint belongs to: ``inputs``, a digest; ``options`` by name; ``files``, the size and checksum of each output."""

    inputs: str
    options: Mapping[str, str]
    steps: int = 0
    time: float = 0.0
    files: Mapping[str, tuple[int, int]] = attrs.field(factory=dict)

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {"inputs": self.inputs, "options": dict(self.options), "steps": self.steps, "time": self.time, "files": dict(self.files)}


# --- writing --------------------------------------------------------------------------------------------------------


def save(path: Path, header: Header, state: Any, named: Mapping[str, Any]) -> None:
    """Write *state* to *path*, whole or not at all, even if the process or the machine stops while it is written.

    *named*: objects that are written as a name only; :meth:`Checkpoint.state` takes them again.
    """
    pickled = io.BytesIO()
    _Pickler(pickled, named).dump(state)
    body = pickled.getvalue()
    sums = {"format": FORMAT, "size": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    first = json.dumps({"what": MAGIC, **sums, **header.record()}).encode()
    scratch = path.with_name(f"{path.name}.part")
    try:
        with scratch.open("wb") as stream:
            stream.write(first + b"\n" + body)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(scratch, path)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, named: Mapping[str, Any]) -> None:
        super().__init__(stream, protocol=5)
        self._named = {id(part): name for name, part in named.items()}

    def persistent_id(self, obj: Any) -> str | None:
        """The name of an object that is not written."""
        return self._named.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        """How to write an object that is rebuilt."""
        kept = REBUILT.get(type(obj))
        if kept is not None:
            return _rebuilt, (type(obj), {name.lstrip("_"): getattr(obj, name) for name in kept})
        if isinstance(obj, Census):
            return _counted, (obj.labels, list(obj.present()))
        if isinstance(obj, MappingProxyType):
            return MappingProxyType, (dict(obj),)
        return NotImplemented


def _rebuilt(kind: Callable[..., Any], values: dict[str, Any]) -> Any:
    return kind(**values)


def _counted(labels: dict[str, Column[str | None]], present: Iterable[tuple[Template, int, int]]) -> Census:
    census = Census(labels)
    for template, row, count in present:
        census.add(template, row, count)
    return census


# --- reading --------------------------------------------------------------------------------------------------------


@attrs.frozen
class Checkpoint:
    """A checkpoint that was read: what it belongs to, and the state as bytes."""

    path: Path
    header: Header
    _body: bytes

    def check(self, wanted: Header) -> None:
        """Raise :class:`CheckpointError` unless inputs and options are those that the checkpoint was made with."""
        made, now = self.header.options, wanted.options
        for name in (*now, *(name for name in made if name not in now)):
            if made.get(name) != now.get(name):
                before, here = (options.get(name, "absent") for options in (made, now))
                given = f"no {name}" if before == NOT_GIVEN else f"{name} {before}"
                raise CheckpointError(f"{self.path}: made with {given}, got {'none' if here == NOT_GIVEN else here}")
        if self.header.inputs != wanted.inputs:
            raise CheckpointError(f"{self.path}: made with other inputs: their bytes differ")

    def state(self, named: Mapping[str, Any]) -> Any:
        """The state; *named* gives the objects that were written as a name only."""
        try:
            return _Unpickler(io.BytesIO(self._body), named).load()
        except (pickle.UnpicklingError, AttributeError, ImportError, IndexError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.path}: made by another version of kubeclassic: {type(error).__name__}: {error}") from None


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, named: Mapping[str, Any]) -> None:
        super().__init__(stream)
        self._named = named

    def persistent_load(self, name: Any) -> Any:
        """The object of that name."""
        return self._named[name]


def load(path: Path) -> Checkpoint | None:
    """Read a checkpoint; None if there is no such file. Raises :class:`CheckpointError` for another kind of file, or a damaged one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    first, _, body = data.partition(b"\n")
    try:
        found = json.loads(first)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("what") != MAGIC:
        raise CheckpointError(f"{path}: not a checkpoint of kubeclassic")
    if found.get("format") != FORMAT:
        raise CheckpointError(
            f"{path}: a checkpoint of format {found.get('format')}, wanted {FORMAT}: made by another version of kubeclassic"
        )
    if found.get("size") != len(body) or found.get("sha256") != hashlib.sha256(body).hexdigest():
        raise CheckpointError(f"{path}: damaged: its bytes are not those that were written")
    files = {name: (offset, checksum) for name, (offset, checksum) in found["files"].items()}
    header = Header(inputs=found["inputs"], options=found["options"], steps=found["steps"], time=found["time"], files=files)
    return Checkpoint(path, header, body)
