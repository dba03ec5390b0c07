"""The shape that the house style asks of the code: short files and functions, heads, no cycles."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median, quantiles

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("adapters", "api", "bot", "domain", "ingestion", "localchat", "prompts", "rag", "sandbox")
FILE_LINES = 600
FUNCTION_LINES, USUAL_LINES, NEARLY_ALL_LINES = 60, 10, 30  # the longest; the median; the ninth tenth
NESTING = 3
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of ours by its dotted name."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _functions() -> Iterator[tuple[str, Function]]:
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{name}:{node.lineno} {node.name}", node


def _lines(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _depth(node: ast.AST) -> int:
    """Blocks inside one another; `elif` goes no deeper, and a function inside counts for itself."""
    depth = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda | ast.ClassDef):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        depth = max(depth, _depth(child) + (isinstance(child, BLOCKS) and not is_elif))
    return depth


def _tests() -> Iterator[tuple[str, str]]:
    """The folders of the tests; beside them lie 16,000 files of npm."""
    return ((f"tests/{path.name}", "py") for path in (ROOT / "tests").iterdir() if path.name != "node_modules")


def test_no_file_is_too_long() -> None:
    paths = [
        path
        for folder, ending in (*((package, "py") for package in PACKAGES), ("supabase", "sql"), *_tests())
        for path in (ROOT / folder).rglob(f"*.{ending}")
        if not path.name.endswith("_functions.sql")  # what a release collects from files that are counted themselves
    ]
    assert len(paths) > len(trees())
    assert [path.name for path in paths if len(path.read_text(encoding="utf-8").splitlines()) > FILE_LINES] == []


def test_no_function_is_too_long_or_too_deep() -> None:
    assert [place for place, function in _functions() if _lines(function) > FUNCTION_LINES] == []
    assert [place for place, function in _functions() if _depth(function) > NESTING] == []


def test_most_functions_are_short() -> None:
    lengths = [_lines(function) for _, function in _functions()]
    assert median(lengths) <= USUAL_LINES
    assert quantiles(lengths, n=10)[-1] <= NEARLY_ALL_LINES


def test_each_module_says_what_flows_in_and_out() -> None:
    heads = {name: ast.get_docstring(tree) or "" for name, tree in trees().items() if name != "bot.__main__"}
    assert [name for name, head in heads.items() if "In:" not in head and "In and out:" not in head] == []


def test_no_modules_import_each_other() -> None:
    graph = {name: set(_imported(name, tree)) for name, tree in trees().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def _imported(name: str, tree: ast.Module) -> Iterator[str]:
    """What its import needs: not what functions import or type checkers alone see, nor the packages it lies in."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            wanted = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for each in wanted:
            module = each if each in trees() else each.rpartition(".")[0]
            if module in trees() and not name.startswith(f"{module}."):
                yield module


@pytest.mark.parametrize(
    ("source", "depth"),
    [
        ("def f():\n  if a:\n    pass\n  elif b:\n    pass\n  elif c:\n    pass", 1),
        ("def f():\n  for a in b:\n    with c:\n      if d:\n        pass", 3),
        ("def f():\n  if a:\n    def g():\n      if b:\n        pass", 1),
    ],
    ids=["a ladder", "one inside the other", "a function inside"],
)
def test_depth_is_what_a_reader_has_to_keep_in_mind(source: str, depth: int) -> None:
    assert _depth(ast.parse(source).body[0]) == depth
