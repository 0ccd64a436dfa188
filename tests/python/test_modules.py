"""How the package is put together: no module needs itself, and an analysis is a folder that the list names."""

import ast
import builtins
import collections.abc
import importlib
import inspect
import os
import re
import subprocess
import sys
import typing
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import fabricsim
from fabricsim import cli
from fabricsim._folder import is_own
from fabricsim.analyses import ANALYSES

PACKAGE = Path(fabricsim.__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[2]


def name_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, names):
    """Return the modules of the package that a file imports anywhere: at the top, in functions, for types."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # The stub of the package's names is read by what loads them, which wants them relative.
            assert node.level == (1 if path.name == "__init__.pyi" else 0), f"{path}: imports are written in full"
            module = ".".join(filter(None, [name_of(path) if node.level else "", node.module]))
            inner = {f"{module}.{alias.name}" for alias in node.names}
            found |= inner & names
            # What is no module of its own comes from the module that is named.
            found |= {module} if inner - names else set()
    return (found & names) - {name_of(path)}


def test_no_module_needs_itself():
    paths = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]
    names = {name_of(path) for path in paths}
    needed = {}
    for path in paths:
        needed.setdefault(name_of(path), set()).update(imports_of(path, names))
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        raise AssertionError(f"modules that need each other: {' -> '.join(reversed(error.args[1]))}") from None


def test_types_in_the_help_of_functions_are_those_that_a_user_can_find():
    known = {*fabricsim.__all__, *dir(builtins), *dir(typing), *dir(collections.abc), "Path", "np", "pa"}
    unknown = {}
    for name in fabricsim.__all__:
        function = getattr(fabricsim, name)
        if inspect.isfunction(function):
            texts = [str(annotation) for annotation in function.__annotations__.values()]
            words = {node.id for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            if words - known:
                unknown[name] = sorted(words - known)
    assert unknown == {}


def test_every_folder_of_an_analysis_is_in_the_list():
    folders = {path.parent.name for path in (PACKAGE / "analyses").glob("*/__init__.py")}
    assert folders == {analysis.name for analysis in ANALYSES}


def test_commands_of_analyses_are_those_of_the_list():
    commands = {
        (command.name or command.callback.__name__): command.callback.__module__ for command in cli.app.registered_commands
    }
    for analysis in ANALYSES:
        found = commands.get(analysis.name)
        assert found == (f"fabricsim.analyses.{analysis.name}.command" if analysis.command else None)


def test_analyses_are_explained():
    for analysis in ANALYSES:
        assert analysis.name in (ROOT / analysis.guide).read_text(), analysis.guide


def test_sections_of_analyses_export_what_the_report_calls():
    for analysis in ANALYSES:
        path = PACKAGE / "analyses" / analysis.name / "section.js"
        assert path.exists() == analysis.section
        assert not analysis.section or f"export function {analysis.name}Section(" in path.read_text()


def test_files_that_analyses_write_are_fabricsims():
    for analysis in ANALYSES:
        writer = f"fabricsim.analyses.{analysis.name}.files"
        if not (PACKAGE / "analyses" / analysis.name / "files.py").exists():
            continue
        source = Path(importlib.import_module(writer).__file__).read_text()
        for name in re.findall(r'out\.write\("([^"/]+)"', source):
            assert is_own(name), name
    for name in ("knee.svg", "knee-2.svg", "interference-0.svg", "effects.csv", "perturbed.parquet"):
        assert is_own(name), name
    assert not is_own("knee-2.png")


#: Loads NumPy as commands do; prints the process' threads, and what those that it starts are told.
LOADS_ALONE = """
import os
from fabricsim._hiding import alone
alone()
import numpy
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"), numpy.linalg.inv(2 * numpy.eye(2))[0, 0])
"""


def test_commands_load_numpy_without_threads_and_tell_nobody():
    silent = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    for told, threads in ((None, 1), ("1", 1), ("2", min(2, os.cpu_count() or 1))):
        env = silent if told is None else {**silent, "OPENBLAS_NUM_THREADS": told}
        done = subprocess.run([sys.executable, "-c", LOADS_ALONE], env=env, capture_output=True, text=True)
        assert done.stdout.split() == [str(threads), str(told), "0.5"], done.stderr
