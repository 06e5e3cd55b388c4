"""Mutants: faults in the source, one at a time, that the tests have to find.

``python -m tests.support.mutants`` (``.ci/mutants``) puts each into a copy of the checkout, runs its tests,
and names the mutants that none of them found. Words after the command choose the mutants whose description
has one of them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.support.house import ROOT


class Mutant(NamedTuple):
    """One fault of ``mutants.yaml``: *text*, which *file* has once, becomes *fault*; *tests* (files, folders
    and tests below ``tests``) have to fail."""

    says: str
    file: str
    text: str
    fault: str
    tests: str


MUTANTS = [Mutant(**one) for one in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())]
"""All mutants; those that decide alike, so that no test can find them, are left out."""


LIMIT = 900
"""Seconds for the tests of a mutant: if they have not ended by then, the mutant is found."""


def copied(folder):
    """A copy of the files of the checkout as the package ``kubeclassic`` in *folder*."""
    listed = (
        subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
        .stdout.decode()
        .split("\0")
    )
    copy = folder / "kubeclassic"
    for name in filter(None, listed):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copyfile(ROOT / name, copy / name)
    return copy


def is_found(mutant, copy):
    """Whether its tests fail, or never end, with *mutant* in *copy*, which is restored afterwards."""
    file = copy / mutant.file
    before = file.read_text()
    file.write_text(before.replace(mutant.text, mutant.fault))
    # All conformance cases of the checkout, and none of the larger data.
    ours = {
        "PYTHONPATH": str(copy.parent),
        "KUBECLASSIC_CONFORMANCE": "full",
        "KUBECLASSIC_SHARED": str(copy / "absent"),
        "HYPOTHESIS_PROFILE": "mutants",
    }
    environment = {**os.environ, **ours}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(f"tests/{one}" for one in mutant.tests.split()),
    ]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        file.write_text(before)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant.says}: the tests did not run: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1


def main(words):
    """Try the mutants that *words* choose; 1 if one is not found."""
    chosen = [one for one in MUTANTS if not words or any(word in f"{one.file}: {one.says}" for word in words)]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for one in chosen:
            found = is_found(one, copy)
            missed += not found
            sys.stdout.write(f"{'found ' if found else 'MISSED'}  {one.file}: {one.says}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen)} mutants, {missed} not found\n")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
