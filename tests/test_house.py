"""One word for one thing: no two classes share a name, few modules do, and texts are plain."""

import ast
import re
from functools import cache

from tests.support.house import nodes, sources, text, tree

ONE_FILE_EACH = ("predicates", "priorities", "framework/plugins", "cli")
"""Folders with one file a rule or a command, which is named after it."""
OF_A_QUESTION = ("ask.py", "options.py", "view.py")
"""Files that each question has in its folder."""
MAX_FOLDERS = 2
RIDDLE = re.compile(r"(?:What|Which|Why|Who|Whose|How|Where|When|Those|That)\s")
QUAINT = re.compile(r"\b(?:be it|be there|stands? against|whoever|nobody|so many)\b", re.IGNORECASE)


@cache
def classes():
    """Name of a public class -> the files that define it."""
    return homes((path, tree(path)) for path in sources())


def homes(files):
    """Name of a public class -> the files that define it, nested classes included."""
    found = {}
    for path, module in files:
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(path)
    return found


def shared(names, most=1):
    """The *names* that are in more than *most* places."""
    return {name: places for name, places in names.items() if len(places) > most}


def stems(files):
    """Name of a module -> its folders, but for folders with one file a rule or a command, and for
    ``__init__``."""
    found = {}
    for path in files:
        folder, _, name = path.rpartition("/")
        if name not in ("__init__.py", *OF_A_QUESTION) and folder not in ONE_FILE_EACH:
            found.setdefault(name.removesuffix(".py"), []).append(folder)
    return found


def messages(module):
    """(line, text) of each string in code that is no docstring."""
    told = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value


def test_no_two_classes_share_a_name():
    """A public class has a name that no other class has."""
    assert shared(classes()) == {}


def test_few_modules_share_a_name():
    """No module name is in more than two folders, but for files that are named after a rule or a command."""
    assert shared(stems(sources()), MAX_FOLDERS) == {}


def test_messages_are_plain():
    """No text that a user may read has a quaint word."""
    quaint = [
        f"{path}:{line}" for path in sources() for line, said in messages(tree(path)) if QUAINT.search(said)
    ]
    assert quaint == []


def test_comments_are_plain():
    """No comment or docstring has a quaint word."""
    assert [path for path in sources() if QUAINT.search(text(path))] == []


def test_docstrings_name_the_thing_first():
    """No docstring of a module, a class or a function begins with a question word or a pronoun."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    assert [
        f"{path}: {said[:60]}"
        for path in sources()
        for node in nodes(tree(path))
        if isinstance(node, described) and RIDDLE.match(said := ast.get_docstring(node) or "")
    ] == []
