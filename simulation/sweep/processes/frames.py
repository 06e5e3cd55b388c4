"""Objects over a pipe between two processes of this program: eight bytes of length, then a pickle."""

from __future__ import annotations

import pickle
from typing import IO, Any

_LENGTH = 8


def packed(value: Any) -> bytes:
    """*value* with its length before it."""
    data = pickle.dumps(value, protocol=5)
    return len(data).to_bytes(_LENGTH, "big") + data


def read_bytes(stream: IO[bytes]) -> bytes:
    """The pickle of the next object. Raises EOFError at the end of *stream*, or if it ends within an object."""
    size = int.from_bytes(_exactly(stream, _LENGTH), "big")
    return _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
