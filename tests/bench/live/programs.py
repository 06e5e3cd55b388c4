"""The programs of a run: Kubernetes, etcd and kubeclassic; the error if one is missing; and processes with a
log."""

import os
import re
import shutil
import signal
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import attrs

TICK = os.sysconf("SC_CLK_TCK")
SKIPPED = 77
"""The exit status where programs are missing, as Automake's for a skipped test."""


class MissingProgramsError(Exception):
    """A program that a run needs is missing."""


@attrs.frozen(slots=False)
class Kubernetes:
    """The programs of one version of Kubernetes in *folder*, and etcd."""

    folder: Path
    etcd: str

    @classmethod
    def found(cls, folder, etcd):
        """The programs in *folder*. Raises :class:`MissingProgramsError`."""
        if folder is None:
            raise MissingProgramsError(
                "no folder has kube-apiserver and kube-scheduler: expected --kube FOLDER or KUBECLASSIC_KUBE"
            )
        missing = [
            name for name in ("kube-apiserver", "kube-scheduler") if not os.access(folder / name, os.X_OK)
        ]
        program = shutil.which("etcd") if etcd is None else shutil.which(etcd / "etcd")
        if missing:
            raise MissingProgramsError(f"{folder} has no {' and no '.join(missing)}")
        if program is None:
            raise MissingProgramsError(
                f"there is no etcd in {etcd or 'PATH'}: expected one there, --etcd FOLDER or KUBECLASSIC_ETCD"
            )
        return cls(folder, program)

    def program(self, name):
        """The path of one program."""
        return str(self.folder / name)

    @cached_property
    def version(self):
        """The version that kube-apiserver prints, such as ``1.28.7``."""
        said = subprocess.run(
            [self.program("kube-apiserver"), "--version"], capture_output=True, text=True, check=True
        ).stdout
        found = re.search(r"v(\d+\.\d+\.\d+)", said)
        if found is None:
            raise MissingProgramsError(f"{self.program('kube-apiserver')} does not tell its version")
        return found[1]

    @property
    def minor(self):
        """The minor version: 28 of 1.28.7."""
        return int(self.version.split(".")[1])


@attrs.define
class Running:
    """A process; its output goes to *log*."""

    command: tuple
    log: Path
    process: object = attrs.field(init=False)
    _seconds: float = attrs.field(default=0.0, init=False)

    def __attrs_post_init__(self):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @property
    def status(self):
        """Its exit status; None while it runs."""
        return self.process.poll()

    @property
    def seconds(self):
        """Its processor time so far; after its end, the value that was last read."""
        if self.status is None:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            self._seconds = (int(fields[11]) + int(fields[12])) / TICK
        return self._seconds

    def send(self, number):
        """Send the process a signal."""
        self.process.send_signal(number)

    def kill(self):
        """Kill the process."""
        self.process.kill()
        self.process.wait()

    def end(self):
        """End the process by SIGTERM, or SIGKILL after 30 seconds; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30.0)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.process.wait()

    def text(self):
        """Its output so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def kubeclassic(python):
    """The command line of kubeclassic, run by *python*, or by this Python if that is empty."""
    return [python or sys.executable, "-P", "-m", "kubeclassic"]
