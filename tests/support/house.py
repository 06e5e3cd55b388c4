"""The measures of the source: tokens, functions, files, imports, import cycles, layers, and the table of
ARCHITECTURE.md.

``python -m tests.support.house`` prints the sizes; ``tests/test_layers.py`` sets their limits. Files are
named by their path from the root of the repository, with slashes. Functions take the code they check as an
argument, so that a test can pass faulty code and see it found.
"""

import ast
import contextlib
import io
import itertools
import re
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NO_PARTS = {"tests", "build"}
"""Packages at the root that do not belong to kubeclassic."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


# --- files --------------------------------------------------------------------------------------------------


@cache
def tree(path):
    """The syntax tree of a file."""
    return ast.parse(text(path))


@cache
def nodes(module):
    """All nodes of a syntax tree: many checks look at them, and to walk a tree takes as long as to read
    it."""
    return tuple(ast.walk(module))


@cache
def text(path):
    """The text of a file."""
    return (ROOT / path).read_text()


@cache
def sources():
    """Every Python file of the package: those at the root, and those in packages."""
    packages = [init.parent for init in ROOT.glob("*/__init__.py") if init.parent.name not in NO_PARTS]
    files = [*ROOT.glob("*.py"), *(file for package in packages for file in package.rglob("*.py"))]
    return tuple(sorted(file.relative_to(ROOT).as_posix() for file in files))


@cache
def test_files():
    """Every Python file below ``tests``."""
    return tuple(sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "tests").rglob("*.py")))


# --- imports ------------------------------------------------------------------------------------------------


def modules(files):
    """Dotted name, as a tuple without ``kubeclassic`` -> file."""
    names = {tuple(file.removesuffix(".py").split("/")): file for file in files}
    return {name[:-1] if name[-1] == "__init__" else name: file for name, file in names.items()}


def imported(module, file, known):
    """(line, file) for each import of a file of the package by *file*, wherever it stands."""
    for node in nodes(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in imported_names(node, ("kubeclassic", *file.split("/")[:-1])):
                if name[0] == "kubeclassic":
                    yield node.lineno, found_file(name[1:], known)


def imported_names(node, package):
    """The dotted names that a statement imports, relative ones seen from *package*."""
    if isinstance(node, ast.Import):
        return [tuple(alias.name.split(".")) for alias in node.names]
    base = package[: len(package) - node.level + 1] if node.level else ()
    module = (*base, *(node.module.split(".") if node.module else ()))
    return [(*module, alias.name) for alias in node.names]


def found_file(name, known):
    """The file of the longest prefix of *name* that is a module; else the name, joined by slashes."""
    lengths = range(len(name), -1, -1)
    found = next((known[name[:n]] for n in lengths if name[:n] in known), None)
    return "/".join(name) if found is None else found


@cache
def imports():
    """File of the package -> imported file -> the line of the first import."""
    known = modules(sources())
    return {
        file: {to: line for line, to in reversed(list(imported(tree(file), file, known))) if to != file}
        for file in sources()
    }


def circles(graph):
    """The import cycles: each group of files that import one another, directly or not, sorted."""
    reach = {file: reached(graph, file) for file in graph}
    groups = {
        tuple(sorted(to for to in reach[file] if file in reach.get(to, ())))
        for file in graph
        if file in reach[file]
    }
    return [list(group) for group in sorted(groups)]


def reached(graph, start):
    """All files that *start* imports, directly or not."""
    found = set()
    waiting = [start]
    while waiting:
        new = set(graph.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


# --- the order of the parts ---------------------------------------------------------------------------------


def part_of(file, rows):
    """The part that a file belongs to: the longest name if several match."""
    parts = (part for row in rows for part in row.split() if covers(part, file))
    return max(parts, key=len, default=None)


def covers(part, file):
    """Whether a part, which is a file or a folder, is or contains *file*."""
    return file == part or file.startswith(f"{part}/")


def floor_of(part, rows):
    """The row number of a part; a part without a row is above all."""
    return next((number for number, row in enumerate(rows) if part in row.split()), len(rows))


def may_import(file, target, rows):
    """Whether the table lets *file* import *target*: its own part, or one in a row above that its row
    names."""
    here = part_of(file, rows)
    there = part_of(target, rows)
    if here is None or here == there:
        return here is not None
    named = next(allowed for row, allowed in rows.items() if here in row.split())
    return floor_of(there, rows) < floor_of(here, rows) and any(
        covers(part, target) for part in named.split()
    )


def strays(graph, rows):
    """The imports that the table does not allow."""
    return [
        f"{file}, line {line}: {to}"
        for file, targets in graph.items()
        for to, line in targets.items()
        if not may_import(file, to, rows)
    ]


def longest_chain(graph, units):
    """The longest chain of imports between *units* (file -> its unit; other files do not count), highest
    first; there must be no cycle."""
    below = {unit: set() for unit in units.values()}
    for file, unit in units.items():
        below[unit] |= {units[to] for to in graph[file] if to in units} - {unit}
    chains = {}

    def chain(unit):
        if unit not in chains:
            chains[unit] = [unit, *max((chain(lower) for lower in sorted(below[unit])), key=len, default=[])]
        return chains[unit]

    return max(map(chain, sorted(below)), key=len, default=[])


# --- sizes --------------------------------------------------------------------------------------------------

WIDTH = 110
"""The columns of a line; longer ones are counted."""
KINDS = ("NAME", "NUMBER", "STRING", "OP", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
COUNTED = {getattr(tokenize, kind) for kind in KINDS if hasattr(tokenize, kind)}
ENDS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
BY_ITSELF = ("__hash__", "__eq__", "__get__")
"""Methods that Python calls for a key or an attribute; no reader follows them."""


def tokens(source):
    """The counts of a source: ``code`` (names, numbers, strings and operators) in tokens, ``docstrings`` and
    ``comments`` in words."""
    found = Counter()
    begins = True
    for token, after in itertools.pairwise(tokenize.generate_tokens(io.StringIO(source).readline)):
        if token.type == tokenize.COMMENT:
            found["comments"] += len(token.string.split())
        elif token.type == tokenize.STRING and begins and after.type in (tokenize.NEWLINE, tokenize.COMMENT):
            found["docstrings"] += len(token.string.split())
            begins = False
        elif token.type in COUNTED:
            found["code"] += 1
            begins = False
        elif token.type in ENDS:
            begins = True
    return found


def code_tokens(files):
    """The tokens of code in *files*."""
    return sum(tokens(text(file))["code"] for file in files)


def functions(module):
    """Every function and method."""
    return (node for node in ast.walk(module) if isinstance(node, Function))


def body_lines(node):
    """The lines of a function without signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1


def called_once(module):
    """The private functions of a file that are named at only one place in it."""
    private = {
        node.name
        for node in functions(module)
        if node.name.startswith("_") and not node.name.startswith("__")
    }
    uses = Counter(name for name in names_in(module) if name in private)
    return sorted(name for name in private if uses[name] == 1)


def changes_of_file(arguments):
    """(files entered, calls into another file than the call before) of a command that has run once before.

    Returns do not count, nor do functions of other packages.
    """
    from kubeclassic.cli import main

    def run():
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.suppress(SystemExit),
        ):
            main(arguments)

    def note(frame, event, _):
        file = frame.f_code.co_filename
        if (
            event == "call"
            and file.startswith(f"{ROOT}/")
            and "site-packages" not in file
            and frame.f_code.co_name not in BY_ITSELF
        ):
            entered.append(file)

    entered = []
    run()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len(set(entered)), sum(one != other for one, other in itertools.pairwise(entered))


def table():
    """The sizes of the source, each with its name."""
    of_source, of_tests = (
        sum((tokens(text(file)) for file in files), Counter()) for files in (sources(), test_files())
    )
    modules_ = [tree(path) for path in sources()]
    bodies = [body_lines(node) for module in modules_ for node in functions(module)]
    lines = [line for path in sources() for line in text(path).splitlines()]
    files, changes = changes_of_file(["simulate", str(ROOT / "examples" / "cluster")])
    one_liners = sum(size == 1 for size in bodies)
    rows = [
        ("source tokens", of_source["code"]),
        ("test tokens", of_tests["code"]),
        ("source files", len(sources())),
        ("source lines", len(lines)),
        (f"lines over {WIDTH} columns", sum(len(line) > WIDTH for line in lines)),
        ("words of docstrings, source", of_source["docstrings"]),
        ("words of comments, source", of_source["comments"]),
        ("functions", len(bodies)),
        ("mean body, lines", f"{sum(bodies) / len(bodies):.1f}"),
        ("bodies of one line", f"{one_liners:,} ({one_liners / len(bodies):.0%})"),
        ("private functions that one place calls", sum(len(called_once(module)) for module in modules_)),
        ("classes", sum(isinstance(node, ast.ClassDef) for module in modules_ for node in nodes(module))),
        ("test files", len(test_files())),
        ("files entered by a warm `simulate examples/cluster`", files),
        ("changes of file in it", changes),
    ]
    return [(name, size if isinstance(size, str) else f"{size:,}") for name, size in rows]


# --- kinds --------------------------------------------------------------------------------------------------

KIND = re.compile(r"^(Framework|Classic)|(Engine|Flow)$")
"""Names of classes that only one kind of releases has: predicates and priorities, or the framework."""


def kinds_asked(module):
    """The lines that check whether an object's class belongs to one kind of releases, or to the other."""
    return [
        part.lineno
        for node in nodes(module)
        for part in classes_asked(node)
        if any(map(KIND.search, names_in(part)))
    ]


def classes_asked(node):
    """The classes that ``isinstance``, ``issubclass`` or a pattern asks for, if *node* is one of these."""
    if isinstance(node, ast.MatchClass):
        return [node.cls]
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
    ):
        return node.args[-1:]
    return []


def names_in(node):
    """The names in a piece of code, and the last parts of dotted ones."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute):
            yield part.id if isinstance(part, ast.Name) else part.attr


def ignored_lines(source):
    """The lines that the type checker is told to ignore."""
    return [
        number for number, line in enumerate(source.splitlines(), 1) if re.search(r"#\s*type:\s*ignore", line)
    ]


# --- releases -----------------------------------------------------------------------------------------------


def literals(module, versions):
    """The lines of the strings that are one of *versions*."""
    constants = (node for node in nodes(module) if isinstance(node, ast.Constant))
    return [node.lineno for node in constants if isinstance(node.value, str) and node.value in versions]


def compares_release(node):
    """Whether a side of the comparison is a release or a version."""
    return any(is_release(side) for side in (node.left, *node.comparators)) and not is_absence(node)


def release_comparisons(module):
    """The lines that compare a release or its version."""
    return [node.lineno for node in nodes(module) if isinstance(node, ast.Compare) and compares_release(node)]


def imports_of(module, names):
    """The lines that import one of *names* from somewhere."""
    statements = (node for node in nodes(module) if isinstance(node, ast.ImportFrom))
    return [node.lineno for node in statements if any(alias.name in names for alias in node.names)]


def is_release(node):
    """Whether the expression reads like a release: a name ``release``, or an attribute ``release`` or
    ``version`` of one."""
    if isinstance(node, ast.Attribute):
        return node.attr == "release" or (node.attr == "version" and is_release(node.value))
    return isinstance(node, ast.Name) and node.id == "release"


def is_absence(node):
    """Whether the comparison is ``is None`` or ``is not None``."""
    nothing = all(isinstance(side, ast.Constant) and side.value is None for side in node.comparators)
    return nothing and all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)


# --- ARCHITECTURE.md ----------------------------------------------------------------------------------------


def table_under(heading, document):
    """(first cell, the rest) for each row of the table under a heading, without the table's head."""
    section = document.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").partition("|") for line in section.splitlines() if line.startswith("|")]
    return [(first.strip(), rest.strip()) for first, _, rest in rows[2:]]


def files_in(cell):
    """The files that a cell names, in backticks."""
    return re.findall(r"`([^`]+\.[a-z]+)`", cell)


def misplaced(places, root):
    """The first cells of the rows that do not name exactly one existing file."""
    named = ((change, files_in(rest)) for change, rest in places)
    return [change for change, files in named if not (len(files) == 1 and (root / files[0]).is_file())]


if __name__ == "__main__":
    for name, size in table():
        sys.stdout.write(f"{name:55} {size:>12}\n")
