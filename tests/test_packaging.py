"""setup.cfg says what there is to install, and that is what a wheel holds."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

NOT_COPIED = shutil.ignore_patterns("build", "dist", "conformance", "*.egg-info", "__pycache__", ".*")
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def test_every_package_is_installed(root: Path) -> None:
    """The packages in setup.cfg are the project's folders with an ``__init__.py``, tests apart."""
    config = ConfigParser()
    config.read(root / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    folders = {path.parent.relative_to(root) for path in root.rglob("__init__.py")}
    ours = {folder for folder in folders if not {"tests", "build", ".venv"} & set(folder.parts)}
    assert listed == {".".join(("kubeclassic", *folder.parts)) for folder in ours}


def test_nothing_but_requirements_is_imported(root: Path) -> None:
    """The core reads only numpy, attrs, msgspec and PyYAML; the command line adds click and rich."""
    config = ConfigParser()
    config.read(root / "setup.cfg")
    required = {line.split(">=")[0] for line in config["options"]["install_requires"].split()}
    assert required == {"attrs", "click", "msgspec", "numpy", "PyYAML", "rich"}


def test_a_wheel_holds_the_package_alone(root: Path, tmp_path: Path) -> None:
    """A wheel holds every file of every package, py.typed, style sheets and schemas among them, and nothing of tests or examples."""
    tree = tmp_path / "kubeclassic"
    shutil.copytree(root, tree, ignore=NOT_COPIED)
    done = subprocess.run([sys.executable, "-c", BUILD, str(tmp_path)], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    packages = [init.parent for init in root.glob("*/__init__.py") if init.parent.name not in ("tests", "build")]
    files = [*root.glob("*.py"), root / "py.typed", *(file for package in packages for file in package.rglob("*") if file.is_file())]
    wanted = {file.relative_to(root).as_posix() for file in files if file.suffix != ".pyc"}
    assert {Path(name).suffix for name in wanted} == {".py", ".typed", ".css", ".html", ".js", ".json", ".txt"}
    assert held == {f"kubeclassic/{name}" for name in wanted}
