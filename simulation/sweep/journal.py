"""The journal of a sweep: a line for each finished run, on disk before the next one is reported. A killed sweep goes on from it."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import attrs

from ...exceptions import KubeclassicError
from ..replay.outputs import os_errors
from .tasks import Done

JOURNAL = "runs.jsonl"


class SweepOutputError(KubeclassicError):
    """The folder of a sweep cannot be written."""


@attrs.define(eq=False, repr=False)
class RunJournal:
    """Finished runs by key. Without a *folder* they are kept in memory alone."""

    folder: Path | None = None
    known: dict[str, Done] = attrs.field(factory=dict)
    _stream: IO[bytes] | None = None

    def __enter__(self) -> RunJournal:
        if self.folder is not None:
            path = self.folder / JOURNAL
            with os_errors(path, SweepOutputError), ExitStack() as stack:
                self.folder.mkdir(parents=True, exist_ok=True)
                stream = stack.enter_context(path.open("a+b"))
                stream.truncate(self._read(stream))
                self._stream = stream
                stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def _read(self, stream: IO[bytes]) -> int:
        """Take over all whole lines; how many bytes they have. A line that was cut off when the sweep was killed does not count."""
        stream.seek(0)
        size = 0
        for number, line in enumerate(stream, 1):
            if line.endswith(b"\n"):
                key, done = _entry(line, f"{stream.name}, line {number}")
                self.known[key] = done
                size += len(line)
        return size

    def note(self, key: str, done: Done) -> None:
        """A run is finished. Those that another try could help are not kept."""
        if not done.is_final:
            return
        self.known[key] = done
        if self._stream is None:
            return
        entry = {"run": key, "error": done.error} if done.error is not None else {"run": key, "measures": dict(done.measures or {})}
        with os_errors(self._stream.name, SweepOutputError):
            self._stream.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())


def _entry(line: bytes, where: str) -> tuple[str, Done]:
    try:
        entry = json.loads(line)
        return str(entry["run"]), Done(entry.get("measures"), entry.get("error"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SweepOutputError(f"{where}: got no run of a sweep, wanted a folder of a sweep, or a new one") from None
