"""What is checked before a replay that may take hours begins: where its results go, and that no other replay uses its checkpoint."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

from .checkpoint import CheckpointError
from .outputs import PARQUET, ResultFileError, os_errors
from .settings import Places


@contextmanager
def guarded(places: Places, inputs: Sequence[Path] = ()) -> Iterator[None]:
    """Check *places* first; the checkpoint belongs to this process until the block ends.

    Raises :class:`~.outputs.ResultFileError` for a place that cannot be written or that is one of *inputs* or of the other places, and
    :class:`~.checkpoint.CheckpointError` if another process has the checkpoint.
    """
    wanted = {"--output": places.events, "--series": places.series, "--checkpoint": places.checkpoint, "--report": places.report}
    named = {option: path for option, path in wanted.items() if path is not None}
    for option, path in named.items():
        replaced = option in ("--checkpoint", "--report") or (option == "--series" and path.suffix == PARQUET)
        _check_place(option, path, whole=replaced or places.checkpoint is not None)
    _check_apart(named, inputs)
    if places.checkpoint is None:
        yield
        return
    with _locked(places.checkpoint):
        yield


# --- places ---------------------------------------------------------------------------------------------------------


def _check_place(option: str, path: Path, *, whole: bool) -> None:
    """*whole*: it has to be a regular file, or none yet, since it is replaced or resumed."""
    try:
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise ResultFileError(f"{path}: {option}: got a directory, wanted a file")
        if mode is not None and whole and not stat.S_ISREG(mode):
            raise ResultFileError(f"{path}: {option}: got a device or a pipe, wanted a file, which can be read again")
        if mode is None or whole:
            from tempfile import NamedTemporaryFile

            with NamedTemporaryFile(dir=path.resolve().parent, prefix=f".{path.name[:60]}.", suffix=".part"):
                pass
        if mode is not None and not os.access(path, os.W_OK):
            raise PermissionError(13, "permission denied")
    except (OSError, ValueError, RuntimeError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise ResultFileError(f"{path}: cannot be written: {told.lower()}".replace("\0", "\\0")) from None


def _mode(path: Path) -> int | None:
    """What is there; None for nothing, or for a link to nothing."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _check_apart(named: Mapping[str, Path], inputs: Sequence[Path]) -> None:
    seen = [("an input", path) for path in inputs]
    for option, path in named.items():
        for what, other in seen:
            if _is_same(path, other):
                raise ResultFileError(f"{path}: {option}: got the same file as {what}, wanted another one")
        seen.append((option, path))


def _is_same(path: Path, other: Path) -> bool:
    with suppress(OSError, ValueError):
        if path.exists() and not path.is_file():
            return False  # a device can serve twice
        return os.path.samefile(path, other) if path.exists() and other.exists() else path.resolve() == other.resolve()
    return False


# --- the lock -------------------------------------------------------------------------------------------------------


@contextmanager
def _locked(checkpoint: Path) -> Iterator[None]:
    """A lock beside the checkpoint. The system lets go of it when the process ends, however it ends."""
    locks = _locks()
    if locks is None:
        yield
        return
    path = checkpoint.resolve().with_name(f".{checkpoint.name}.lock")
    handle = _take(locks, path, checkpoint)
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)
        os.close(handle)


def _locks() -> ModuleType | None:
    try:
        return import_module("fcntl")
    except ImportError:  # a system without such locks
        return None


def _take(locks: ModuleType, path: Path, checkpoint: Path) -> int:
    while True:
        with os_errors(path, CheckpointError):
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
            if _is_open(path, handle):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise CheckpointError(f"{checkpoint}: another replay uses this checkpoint: wait for its end, or name another file") from None
        except OSError as error:
            os.close(handle)
            raise CheckpointError(f"{path}: cannot be locked: {(error.strerror or str(error)).lower()}") from None
        os.close(handle)


def _is_open(path: Path, handle: int) -> bool:
    """Whether the locked file is still the one in the folder: the process that had it before removes it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False
