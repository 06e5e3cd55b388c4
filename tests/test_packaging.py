"""setup.cfg says what there is to install, and that is what a wheel holds; wheel and sdist are fit to be
published."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from email.parser import HeaderParser
from pathlib import Path

import pytest

import kubeclassic

NOT_COPIED = shutil.ignore_patterns("build", "dist", "conformance", "*.egg-info", "__pycache__", ".*")
NOT_IN_SDIST = {".gitignore", ".github"}
SETUPTOOLS = {"PKG-INFO", "kubeclassic.egg-info"}
"""The files that setuptools adds to an sdist."""


def test_every_package_is_installed(root):
    """The packages in setup.cfg are the project's folders with an ``__init__.py``, tests apart."""
    config = ConfigParser()
    config.read(root / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    folders = {path.parent.relative_to(root) for path in root.rglob("__init__.py")}
    ours = {folder for folder in folders if not {"tests", "build", ".venv"} & set(folder.parts)}
    assert listed == {".".join(("kubeclassic", *folder.parts)) for folder in ours}


def test_nothing_but_requirements_is_imported(root):
    """The core reads only numpy, attrs, msgspec and PyYAML; the command line adds click and rich, and pages
    and notebooks Jinja2."""
    config = ConfigParser()
    config.read(root / "setup.cfg")
    required = {line.split(">=")[0] for line in config["options"]["install_requires"].split()}
    assert required == {"attrs", "click", "msgspec", "numpy", "PyYAML", "jinja2", "rich"}


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    """A folder with the wheel and the sdist of a copy of the tree, the wheel built from the sdist."""
    place = tmp_path_factory.mktemp("built")
    tree = place / "kubeclassic"
    shutil.copytree(root, tree, ignore=NOT_COPIED)
    run("build", "--no-isolation", "--outdir", str(place / "dist"), str(tree))
    return place / "dist"


def run(module, *arguments):
    """The output of a Python module run with *arguments*; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_holds_the_package_alone(root, built):
    """A wheel holds every file of every package, py.typed and style sheets among them, and the examples;
    nothing of tests."""
    (wheel,) = built.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    packages = [
        init.parent for init in root.glob("*/__init__.py") if init.parent.name not in ("tests", "build")
    ]
    files = [
        *root.glob("*.py"),
        root / "py.typed",
        *(file for package in packages for file in package.rglob("*") if file.is_file()),
    ]
    wanted = {file.relative_to(root).as_posix() for file in files if file.suffix != ".pyc"}
    assert {Path(name).suffix for name in wanted} == {".py", ".typed", ".css", ".html", ".js", ".txt"}
    samples = {path.relative_to(root) for path in (root / "examples").rglob("*") if path.is_file()}
    assert held == {f"kubeclassic/{name}" for name in wanted} | {
        f"kubeclassic/{path}" for path in samples if not hides(path)
    }


def test_an_sdist_holds_what_tests_need(root, built):
    """An sdist holds the whole tree but what is for git and its host: tests, their data, examples and
    documentation too."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {Path(*Path(item.name).parts[1:]) for item in archive if item.isfile()}
    named = {path.parts[0] for path in held}
    hidden = {"build", "dist", "kubeclassic.egg-info"}
    there = {
        path.name
        for path in root.iterdir()
        if path.name not in hidden and not path.name.startswith((".", "__pycache__"))
    }
    assert named - SETUPTOOLS - {"MANIFEST.in"} == there - NOT_IN_SDIST - {"MANIFEST.in"}
    for folder in ("tests", "examples", "docs"):
        files = {
            path.relative_to(root)
            for path in (root / folder).rglob("*")
            if path.is_file() and not hides(path.relative_to(root))
        }
        assert {path for path in held if path.parts[0] == folder and not hides(path)} == files


def hides(path):
    """Whether *path* is no file of the project, or one that the copy leaves out."""
    return (
        path.suffix == ".pyc"
        or "conformance" in path.parts
        or any(part.startswith(".") for part in path.parts)
    )


def test_they_can_be_published(built):
    """twine and check-wheel-contents have nothing to say against them."""
    run("twine", "check", "--strict", *map(str, built.iterdir()))
    (wheel,) = built.glob("*.whl")
    run("check_wheel_contents", str(wheel))


def test_the_version_has_one_source(root, built):
    """Wheel and sdist have the version of the package, which stands in no other file of metadata."""
    (wheel,) = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
    assert HeaderParser().parsestr(archive.read(metadata).decode())["Version"] == kubeclassic.__version__
    assert {path.name for path in built.iterdir()} >= {f"kubeclassic-{kubeclassic.__version__}.tar.gz"}
    assert kubeclassic.__version__ not in (root / "setup.cfg").read_text()


def test_the_wheel_runs(root, built, tmp_path):
    """The unpacked wheel alone, without the tree, writes the examples and schedules their cluster."""
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kubeclassic.cli as cli; print(cli.__file__); cli.main()"
    asked = {("examples",): 0, ("simulate", "examples/cluster", "-o", "name"): 1, ("examples", "examples"): 2}
    (written, done, again) = (
        subprocess.run(
            [sys.executable, "-c", script, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        for words in asked
    )
    assert [one.returncode for one in (written, done, again)] == list(asked.values()), done.stderr
    assert {path.name for path in (tmp_path / "examples").iterdir()} == {
        path.name for path in (root / "examples").iterdir()
    }
    assert "got examples, which exists" in again.stderr
    place, *hosts = done.stdout.splitlines()
    assert place == str(tmp_path / "kubeclassic" / "cli" / "__init__.py")
    assert len(hosts) == 21
