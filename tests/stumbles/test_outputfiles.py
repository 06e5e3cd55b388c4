"""What users stumbled over where results are written and paths are read: devices, pipes, links, full disks,
odd names and consoles."""

import errno
import gzip
import io
import json
import os
import resource
import stat
import subprocess
import sys
import threading

import pytest

from kubeclassic.cli import run
from kubeclassic.cli.answering import write_yaml
from kubeclassic.cli.console.output import OutputError, writing
from tests.support.program import command, program, ran

NODE = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {pods: 9}}\n---\n"
POD = "kind: Pod\nmetadata: {name: web}\n"
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
SIMULATE = ["simulate", "cluster.yaml", "-o", "name"]


@pytest.fixture
def folder(workdir):
    """A working folder with a cluster."""
    (workdir / "cluster.yaml").write_text(NODE + POD)
    return workdir


def write(path, text):
    """Write *text* as a command does."""
    with writing(str(path)) as stream:
        stream.write(text)


def shell(line, *arguments):
    """Run the program after a *line* of the shell, which changes its streams."""
    ran = ["sh", "-c", f'{line}; exec "$@"', "sh", *command(*arguments)]
    return subprocess.run(ran, capture_output=True, text=True, timeout=120, check=False)


OTHER = "--output: expected another file, got more.json, which is an input too"


# --- Devices ------------------------------------------------------------------------------------------------


def test_a_device_is_written_to(tmp_path):
    """A device, here a terminal, is opened and written; it stays a device, also behind a link."""
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    link = tmp_path / "link"
    link.symlink_to(name)
    for place in (name, link):
        write(place, "hello\n")
        assert os.read(ours, 99) == b"hello\r\n"
        assert stat.S_ISCHR(os.stat(place).st_mode)
    os.close(ours)
    os.close(theirs)


def test_a_named_pipe_is_written_to(tmp_path):
    """A named pipe is opened and written; it stays a pipe."""
    pipe = tmp_path / "pipe"
    read = []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe, "hello")
    reader.join()
    assert (read, stat.S_ISFIFO(pipe.stat().st_mode), os.listdir(tmp_path)) == (["hello"], True, ["pipe"])


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_an_open_descriptor_is_written_to(tmp_path, form):
    """``/dev/fd/N``, as of ``>(...)``, is written where it stands, even where it is a file: what is in it
    stays."""
    log = tmp_path / "log"
    log.write_text("first\n")
    with log.open("a") as stream:
        (tmp_path / "link").symlink_to(f"/dev/fd/{stream.fileno()}")
        write(str(tmp_path / form) if form == "link" else form.format(stream.fileno()), "second\n")
    assert log.read_text() == "first\nsecond\n"


def test_dev_stdout_is_standard_output(folder):
    """``--output /dev/stdout`` appends to where standard output goes."""
    (folder / "log").write_text("first\n")
    with (folder / "log").open("a") as log:
        done = program(
            *SIMULATE, "--output", "/dev/stdout", capture_output=False, stdout=log, stderr=subprocess.PIPE
        )
    assert (done.returncode, (folder / "log").read_text()) == (0, "first\ndefault/web a\n")


# --- Files --------------------------------------------------------------------------------------------------


def test_of_two_runs_the_last_one_wins_whole(tmp_path):
    """Two runs that write one file do not mix: it is that of the run that ended last."""
    with writing(str(tmp_path / "out")) as first:
        first.write("first " * 10_000)
        write(tmp_path / "out", "second")
        first.write("end")
    assert (tmp_path / "out").read_text() == "first " * 10_000 + "end"
    assert os.listdir(tmp_path) == ["out"]


def test_mode_and_owner_stay(tmp_path, monkeypatch):
    """A replaced file keeps its mode, and its owner where that is allowed."""
    given = []
    monkeypatch.setattr(os, "chown", lambda path, user, group: given.append((user, group)))
    (tmp_path / "out").write_text("old")
    os.chmod(tmp_path / "out", 0o604)
    write(tmp_path / "out", "new")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o604
    assert given == [(os.getuid(), os.getgid())]


def test_a_file_that_is_read_only_is_refused(tmp_path, monkeypatch):
    """A file that may not be written is not replaced either."""
    opened = os.open

    def refuse(path, flags, *more, **named):
        if flags & os.O_WRONLY and str(path).endswith("out"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return opened(path, flags, *more, **named)

    (tmp_path / "out").write_text("old")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match=r"out: cannot be written: permission denied$"):
        write(tmp_path / "out", "new")
    assert ((tmp_path / "out").read_text(), os.listdir(tmp_path)) == ("old", ["out"])


def test_links(tmp_path):
    """A link to nothing gets its file and stays; links in a circle are refused."""
    for name, target in (("dangling", "real"), ("a", "b"), ("b", "a")):
        (tmp_path / name).symlink_to(target)
    write(tmp_path / "dangling", "x")
    assert ((tmp_path / "dangling").is_symlink(), (tmp_path / "real").read_text()) == (True, "x")
    with pytest.raises(OutputError, match=r"a: cannot be written: too many levels of symbolic links$"):
        write(tmp_path / "a", "x")


def test_a_full_disk_leaves_no_part(tmp_path):
    """Where a file cannot be finished the old one stays, and no part of the new one."""
    (tmp_path / "out").write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"out: cannot be written: file too large$"):
            write(tmp_path / "out", "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert ((tmp_path / "out").read_text(), os.listdir(tmp_path)) == ("old", ["out"])


@pytest.mark.parametrize("name", ["", "a\0b", "folder/"])
def test_names_that_are_none(workdir, name):
    """No name, a name with a NUL, and a folder's are refused."""
    with pytest.raises(OutputError):
        write(name, "x")
    assert os.listdir(workdir) == []


def test_any_text_can_be_written(tmp_path):
    """Files are UTF-8 whatever the locale; a lone surrogate, which UTF-8 does not have, is an escape, in
    YAML too."""
    write(tmp_path / "out", "\xe9 \ud800")
    assert (tmp_path / "out").read_bytes() == b"\xc3\xa9 \\ud800"
    with writing(str(tmp_path / "out.yaml")) as stream:
        write_yaml({"name": "\xe9 \ud800"}, stream)
    assert (tmp_path / "out.yaml").read_bytes() == b"name: \xc3\xa9 \\ud800\n"


@pytest.mark.parametrize("text", ["1e3", "12E4", "-1e5", "1.5e3", "0o7", "y", "N", "012", "yes", "1.", ".5"])
def test_texts_that_kubernetes_would_read_as_other_values(text):
    """They are quoted as values and as keys, also where PyYAML alone would not."""
    stream = io.StringIO()
    write_yaml({text: text, "plain": "1e3x"}, stream)
    assert stream.getvalue() == f"'{text}': '{text}'\nplain: 1e3x\n"


def test_a_page_is_utf_8_in_any_locale(workdir):
    """It says so, and the digest of its script is of that."""
    (workdir / "cluster.yaml").write_text("{kind: Node, apiVersion: v1, metadata: {name: 'n'}}")
    command = ("simulate", "cluster.yaml", "--release", "1.36", "-o", "html")
    time = {"SOURCE_DATE_EPOCH": "0"}
    pages = [
        subprocess.run(
            [sys.executable, "-m", "kubeclassic", *command],
            env={**os.environ, **time, "PYTHONIOENCODING": coding},
            capture_output=True,
            check=False,
        ).stdout
        for coding in ("utf-8", "latin-1")
    ]
    assert pages[0] == pages[1] != b""


# --- Same files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, says",
    [
        (
            "simulate cluster.yaml --output cluster.yaml",
            "--output: expected another file, got cluster.yaml, which is an input too",
        ),
        (
            "simulate cluster.yaml --output link.yaml",
            "--output: expected another file, got link.yaml, which is",
        ),
        ("simulate . --output ./more.json", "--output: expected another file, got ./more.json, which is"),
        ("simulate cluster.yaml --pods more.json --output more.json", OTHER),
        ("simulate cluster.yaml --policy more.json --output more.json", OTHER),
        ("compare cluster.yaml --a release=1.16 --b policy=more.json --output more.json", OTHER),
        ("compare cluster.yaml --a 1.16 --b rules=more.json:CATALOGUE --output more.json", OTHER),
        ("simulate cluster.yaml --rules more.json:CATALOGUE --output more.json", OTHER),
        ("simulate cluster.yaml --extenders replay more.json --output more.json", OTHER),
        (
            "replay cluster.yaml --output new --series new",
            "--output: expected another file, got new, which is the file of",
        ),
        ("policy migrate more.json --output more.json", OTHER),
    ],
)
def test_an_input_is_not_written_over(folder, arguments, says):
    """An output that is an input too, or the file of another output, is refused before anything is
    written."""
    (folder / "more.json").write_text('{"kind": "Policy", "apiVersion": "v1"}')
    (folder / "link.yaml").symlink_to("cluster.yaml")
    before = {path.name: path.read_text() for path in folder.iterdir()}
    assert ran(*arguments.split(), status=2).err.startswith(f"kubeclassic: {says}")
    assert {path.name: path.read_text() for path in folder.iterdir()} == before


def test_a_device_may_be_named_twice(folder):
    """Nothing is written over where two outputs are one device."""
    assert run(
        ["replay", "cluster.yaml", "--until", "1", "--output", "/dev/null", "--series", "/dev/null"]
    ) in (0, 1, 130)


def test_a_new_file_beside_the_inputs(folder):
    """A file that is not there yet may be written to a folder of inputs."""
    assert run(["simulate", ".", "-o", "name", "--output", "hosts"]) == 0
    assert run(["simulate", ".", "-o", "name", "--output", "hosts"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "cluster.yaml", "--output"),
        ("simulate", "cluster.yaml", "--report"),
        ("replay", "cluster.yaml", "--report"),
        ("snapshot", "--kubeconfig", "cluster.yaml", "--output"),
        ("policy", "migrate", "cluster.yaml", "--check", "cluster.yaml", "--report"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "place, fault", [("no/x", "no such file or directory"), ("folder", "is a directory")]
)
def test_an_output_that_cannot_be_is_refused_before_the_work(folder, arguments, place, fault):
    """A folder that is not there, or in place of a file."""
    (folder / "folder").mkdir()
    (folder / "cluster.yaml").write_text("}")  # nothing reads it
    told = ran(*arguments, place, status=2)
    assert told.err == f"kubeclassic: {place}: cannot be written: {fault}\n"


@pytest.mark.parametrize(
    "arguments", ["simulate cluster.yaml -o json --report -", "replay cluster.yaml --report -"]
)
def test_one_text_on_standard_output(folder, arguments):
    """Two would be mixed up; beside an answer in a file, a page may be there."""
    says = "--report: expected a file, got - (standard output), which has the answer"
    assert ran(*arguments.split(), status=2).err == f"kubeclassic: {says}\n"
    assert ran(*arguments.split(), "--output", "answer").out.startswith("<!DOCTYPE html>")


def test_a_file_called_gz_is_compressed(folder):
    """Whatever is in it, always to the same bytes."""
    for form in ("name", "html"):
        plain, packed = (f"answer.{form}", f"answer.{form}.gz")
        for file in (plain, packed):
            ran("simulate", "cluster.yaml", "-o", form, "--output", file)
        if form == "name":
            assert gzip.decompress((folder / packed).read_bytes()) == (folder / plain).read_bytes()
        assert (folder / packed).read_bytes()[4:8] == bytes(4)


# --- Streams ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line, status, told",
    [
        ("exec >&-", 2, "kubeclassic: standard output: bad file descriptor"),
        ("exec >/dev/full", 2, "kubeclassic: standard output: no space left on device"),
        ("exec 2>&-", 0, ""),
        ("exec 2>/dev/full", 0, ""),
    ],
)
def test_closed_and_full_streams(line, status, told):
    """A standard output that is closed or full is told of in one line, with exit status 2; standard error
    may be either."""
    done = shell(line, "--version")
    assert (done.returncode, done.stderr.strip()) == (status, told)


def test_closed_standard_input(folder):
    """A closed standard input that was to be read is an error in one line, too."""
    done = shell("exec <&-", "policy", "check", "-")
    assert (done.returncode, done.stderr) == (
        2,
        "kubeclassic: invalid policy: standard input: bad file descriptor\n",
    )


def test_a_reader_that_has_gone():
    """Where the reader of standard output has gone nothing is said, and the exit status is 141, as of
    SIGPIPE."""
    ours, theirs = os.pipe()
    os.close(ours)
    done = program("--help", capture_output=False, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_console_without_the_letters(folder):
    """A plain ASCII console shows other letters, and bytes of names that are none, as escapes."""
    (folder / "cluster.yaml").write_text(NODE + POD.replace("web", "caf\xe9"))
    done = program(*SIMULATE, environment=PLAIN)
    assert (done.returncode, done.stdout) == (0, "default/caf\\xe9 a\n")
    done = program("policy", "check", os.fsencode("\xe9.json"), environment=PLAIN)
    assert (done.returncode, done.stderr) == (
        2,
        "kubeclassic: invalid policy: \\udcc3\\udca9.json: no such file or directory\n",
    )


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["policy", "check", "a\0b"], "expected the name of a file, got 'a\\x00b'"),
        (["simulate", "a\0b"], "expected the name of a file, got 'a\\x00b'"),
        (
            ["simulate", "cluster.yaml", "--config", ""],
            "Invalid value for '--config': expected the name of a file, got ''",
        ),
        (
            ["compare", "cluster.yaml", "--a", "config=", "--b", "release=1.16"],
            "--a: expected config=FILE, got config without a value",
        ),
        (
            ["compare", "cluster.yaml", "--a", "percentage=\u0665\u0660", "--b", ""],
            "expected a number from 0 to 100",
        ),
        (
            ["compare", "cluster.yaml", "--a", "percentage=+5", "--b", ""],
            'expected a number from 0 to 100, got "+5"',
        ),
        (
            ["simulate", "cluster.yaml", "--percentage-of-nodes-to-score", "\u0665\u0660"],
            "expected a whole number",
        ),
        (["simulate", "cluster.yaml", "--seed", "1_0"], "expected a whole number, got '1_0'"),
        (["simulate", "cluster.yaml", "-n", ""], "'-n' / '--namespace': expected NAME, got ''"),
        (["simulate", "cluster.yaml", "--release", ""], "'--release': expected RELEASE, got ''"),
        (
            ["simulate", "cluster.yaml", "--memory", "1e30"],
            "expected 0 to 9223372036854775807 bytes, got 1e30",
        ),
        (["simulate", "cluster.yaml", "--memory", "9223372036854775808"], " bytes, got 9223372036854775808"),
        (["shadow", "--for", "0"], "--for: expected more than 0 seconds, got 0"),
        (["replay", "cluster.yaml", "--series", "-"], "expected the name of a file, got '-'"),
    ],
)
def test_values_that_are_none(folder, arguments, says):
    """Empty names, names with a NUL, and numbers in other digits than 0 to 9 are refused in one line."""
    told = ran(*arguments, status=2).err
    assert says in told
    assert told.count("\n") == 1


def test_a_configuration_that_names_a_path_with_nul(folder):
    """A path with NUL in a configuration file is refused, too."""
    source = {"policy": {"file": {"path": "a\0b"}}}
    (folder / "config.json").write_text(
        json.dumps({"kind": "KubeSchedulerConfiguration", "algorithmSource": source})
    )
    assert ran("simulate", "cluster.yaml", "--config", "config.json", status=2).err.count("\n") == 1
