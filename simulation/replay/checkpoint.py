"""The whole state of a replay in a file. A replay that resumes from it ends as if it had never stopped.

The file is two lines of JSON: a header, and the state as plain data (:mod:`.plaindata`). A checkpoint is data, and reading one runs nothing
that it names. What can be computed again is left out (cached answers of rules, counts over pods), and so is what follows from inputs and
options.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import attrs
import msgspec

from ...api.record import Count, Meta
from ...exceptions import KubeclassicError
from .outputs import os_errors, replacing

MAGIC = "kubeclassic checkpoint"
FORMAT = 9
"""Goes up with every change of what a checkpoint holds or means."""
CHECKSUM = "sha256"
_LONGEST_HEADER = 1 << 20


NOT_GIVEN = str(None)
"""How a header writes an option without a value."""


class CheckpointError(KubeclassicError):
    """A checkpoint cannot be written, or a replay cannot resume from it; the text says why."""


@attrs.frozen(kw_only=True, repr=False)
class Header:
    """What a checkpoint belongs to: ``inputs``, a digest; ``options`` by name; ``files``, the size and checksum of each output."""

    inputs: str
    options: Mapping[str, str]
    steps: int = 0
    time: float = 0.0
    files: Mapping[str, tuple[int, int]] = attrs.field(factory=dict)

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return attrs.asdict(self)


MAX = sys.float_info.max
FIELDS = {
    "inputs": str, "options": dict[str, str], "steps": Count, "time": Annotated[float, Meta(ge=-MAX, le=MAX)],
    "files": dict[str, tuple[Count, Count]],
}  # fmt: skip
"""Field of a header -> what a file must have there."""


# --- writing --------------------------------------------------------------------------------------------------------


def save(path: Path, header: Header, state: Any, named: Mapping[str, Any]) -> None:
    """Write *state* to *path*, whole or not at all, even if the process or the machine stops while it is written.

    *named*: objects that are written as a name only; :meth:`Checkpoint.state` takes them again.
    """
    from .plaindata import dumped  # only a checkpoint needs all that can be in one
    from .statekinds import StateError

    try:
        body = _as_json(dumped(state, named))
    except StateError as error:
        raise CheckpointError(f"{path}: cannot be written: {error}") from None
    first = {"what": MAGIC, "format": FORMAT, "madeBy": _made_by(), "size": len(body), **header.record()}
    content = _as_json({**first, CHECKSUM: _checksum(first, body)}) + b"\n" + body
    with os_errors(path, CheckpointError), replacing(path, 0o600) as scratch, scratch.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), check_circular=False).encode("ascii")


def _checksum(first: Mapping[str, Any], body: bytes) -> str:
    """Of the header, but for the checksum itself, and of the state."""
    import hashlib

    return hashlib.sha256(_as_json(first) + b"\n" + body).hexdigest()


def _made_by() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"kubeclassic {version('kubeclassic')}"
    except PackageNotFoundError:
        return "kubeclassic (a checkout that is not installed)"


# --- reading --------------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Checkpoint:
    """A checkpoint that was read: what it belongs to, and the state as bytes."""

    path: Path
    header: Header
    _body: bytes = attrs.field(repr=False)

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
        from .plaindata import restored
        from .statekinds import StateError

        try:
            return restored(json.loads(self._body), named)
        except (ValueError, RecursionError):
            raise CheckpointError(f"{self.path}: damaged: its second line is not JSON") from None
        except StateError as error:
            raise CheckpointError(f"{self.path}: made by another version of kubeclassic, or damaged: {error}") from None


def load(path: Path) -> Checkpoint | None:
    """Read a checkpoint; None if there is no such file. Raises :class:`CheckpointError` for another kind of file, or a damaged one."""
    try:
        with path.open("rb") as stream:
            found = _header(stream.readline(_LONGEST_HEADER))
            if found is None or found.get("what") != MAGIC:
                raise CheckpointError(f"{path}: not a checkpoint of kubeclassic")
            body = stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if found.get("format") != FORMAT:
        made_by = found.get("madeBy")
        maker = made_by[:80] if isinstance(made_by, str) else "another version of kubeclassic"
        raise CheckpointError(f"{path}: a checkpoint of format {str(found.get('format'))[:20]}, wanted {FORMAT}: made by {maker}")
    if found.pop(CHECKSUM, None) != _checksum(found, body):
        raise CheckpointError(f"{path}: damaged: its bytes are not those that were written")
    return Checkpoint(path, _checked(path, found), body)


def _header(first: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(first) if len(first) < _LONGEST_HEADER else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _checked(path: Path, found: Mapping[str, Any]) -> Header:
    """The header; raises :class:`CheckpointError` for a field of another type."""
    fields = {}
    for name, kind in FIELDS.items():
        try:
            fields[name] = msgspec.convert(found.get(name), kind)
        except msgspec.ValidationError:
            raise CheckpointError(f"{path}: damaged: {name}: got something else than a checkpoint has") from None
    return Header(**fields)
