"""Another scheduler's timing beside ours: a command is run once after each of our runs, and says in a line of JSON how fast it was."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from ...api.reading.fields import shown
from ...api.record import UNSET
from ...exceptions import KubeclassicError
from .measured import OtherScheduler, middle

Json = dict[str, Any]

RATE = "pods_per_s"
PLACE = "{case}"


class OpponentError(KubeclassicError):
    """The command of another scheduler cannot be run, fails, or does not say how fast it was."""


@attrs.define
class Opponent:
    """Another scheduler. In *command* ``{case}``, ``{workload}`` and ``{release}`` are filled in.

    Without ``{case}`` the path of the case is the last argument.
    """

    command: str
    place: str
    name: str
    release: str
    found: list[Json] = attrs.field(factory=list)
    """What each run said."""

    def arguments(self) -> list[str]:
        """The command's words."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise OpponentError(f"--against: got {shown(self.command)}: {str(error).lower()}") from None
        if not words:
            raise OpponentError("--against: got an empty text, wanted a command")
        words = words if any(PLACE in word for word in words) else [*words, PLACE]
        values = {PLACE: self.place, "{workload}": self.name, "{release}": self.release}
        return [_filled(word, values) for word in words]

    def run(self) -> None:
        """Run the command once, and keep what it says. Raises :class:`OpponentError`."""
        arguments = self.arguments()
        try:
            ended = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
        except OSError as error:
            raise OpponentError(f"--against: {arguments[0]}: {(error.strerror or str(error)).lower()}") from None
        if ended.returncode:
            raise OpponentError(f"--against: {arguments[0]} ended with status {ended.returncode}, wanted 0")
        self.found.append(_line(ended.stdout, self.name))

    def beside(self, ours: Sequence[float]) -> OtherScheduler:
        """The medians beside each other; *ours*: the rate of each of our runs."""
        runs = tuple(round(float(found[RATE]), 1) for found in self.found)
        scheduled = self.found[-1].get("scheduled")
        ratio = round(middle(ours) / middle(runs), 3)
        return OtherScheduler(self.command, runs, round(middle(runs), 1), ratio, scheduled if isinstance(scheduled, int) else UNSET)


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def _line(output: str, name: str) -> Json:
    """The line of JSON that is about the case *name*, else the last one."""
    found = [value for line in output.splitlines() if (value := _object(line)) is not None]
    if not found:
        raise OpponentError(f"--against: got {shown(output.strip()[-200:])}, wanted a line of JSON with {RATE}")
    line = next((value for value in found if value.get("case") == name), found[-1])
    rate = line.get(RATE)
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not rate > 0:
        raise OpponentError(f"--against: {RATE}: got {shown(rate)}, wanted a number above 0")
    return line


def _object(line: str) -> Json | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


@contextmanager
def opponent_of(command: str | None, case: Json, path: Path | None) -> Iterator[Opponent | None]:
    """The scheduler that *command* runs on *case*, which was read from *path*; None without a command."""
    if command is None:
        yield None
        return
    with as_file(case, path) as place:
        yield Opponent(command, str(place), case["name"], case["version"])


@contextmanager
def as_file(case: Json, path: Path | None) -> Iterator[Path]:
    """The file that *case* was read from; one that was generated, or read from standard input, is written to a file for the block."""
    if path is not None and str(path) != "-":
        yield path
        return
    with TemporaryDirectory() as folder:
        place = Path(folder) / f"{case['name']}.jsonl"
        whole = {name: list(value) if name in ("objects", "pending") else value for name, value in case.items()}
        place.write_text(json.dumps(whole) + "\n", encoding="utf-8")
        yield place
