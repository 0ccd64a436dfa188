"""The house keeps its order: no new circles between modules, no function, list of arguments or crate longer than it was.

The code itself is read, by a small reader of this file. What is measured is product code: no tests, no examples, and nothing that
only tests compile. A limit is what was measured when it was set. It may be lowered, never raised; a circle that is opened is taken
off its list in the same change.
"""

import ast
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: By crate, and for the Python package: the modules that import each other in a circle. These lists only get shorter.
KNOWN_CIRCLES: dict[str, set[str]] = {}

#: Most lines of a function before it counts as long, and how many such functions there are.
LONG, LONG_FUNCTIONS = 100, 0
#: Most arguments of a function before it counts as wide, the receiver among them, and how many such functions there are.
WIDE, WIDE_FUNCTIONS = 7, 0
#: Names of types that are declared in more than one file.
REPEATED_NAMES = 6
#: Share of the largest crate in all lines of Rust, in per cent.
LARGEST_CRATE = 23.0


# ---------------------------------------------------------------------------------------------------------------- reading Rust

#: What is no code: comments, texts, characters. A lifetime is none of them.
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\[^'\n]+|[^'\\\n])'""",
    re.DOTALL,
)
#: An attribute that keeps what follows for tests.
FOR_TESTS = re.compile(r"#\[(?:cfg\((?:test|all\([^\]]*\btest\b[^\]]*\))\)|test)\]")
MODULE = re.compile(r"\bmod\s+(\w+)\s*([;{])")
#: The start of a path from the crate, or from a module above.
PATH = re.compile(r"(?<!\w)(crate|(?:super\s*::\s*)*super)\s*::\s*(?=[\w{*])")
RE_EXPORT = re.compile(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);")
DECLARED = re.compile(r"\b(?:struct|enum|union|trait|type|fn|const|static|mod|macro_rules!)\s+(?:mut\s+)?(\w+)")
TYPE = re.compile(r"^(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:struct|enum|trait|type)\s+(\w+)", re.MULTILINE)
MACRO = re.compile(r"\bmacro_rules!\s+(\w+)")
FUNCTION = re.compile(r"\bfn\s+(\w+)\s*(?=[<(])")


def _closing(text, start):
    """Return the place of the bracket that closes the one at `start`."""
    depth = 0
    for match in re.compile(r"[(){}\[\]]").finditer(text, start):
        depth += 1 if match[0] in "({[" else -1
        if depth == 0:
            return match.start()
    raise ValueError(f"no closing bracket: {text[start : start + 60]!r}")


def _place(path):
    """Return how messages call a file."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name)


def _blank(text):
    """Keep the lines of a text only."""
    return re.sub(r"[^\n]", " ", text)


def _product(text):
    """Return the code of a file with everything else as spaces: comments, texts, what tests need only."""
    code = NO_CODE.sub(lambda match: _blank(match[0]), text)
    while match := FOR_TESTS.search(code):
        # The item ends with its body, or with a semicolon outside of all brackets.
        at = match.end()
        while code[at] not in ";{":
            at = _closing(code, at) + 1 if code[at] in "([" else at + 1
        end = _closing(code, at) if code[at] == "{" else at
        code = code[: match.start()] + _blank(code[match.start() : end + 1]) + code[end + 1 :]
    return code


def _names(tree):
    """Return the paths of a `use` tree: `a::{b, c::d}` gives a::b, a::c::d."""
    tree = tree.strip()
    if "{" not in tree:
        return [re.sub(r"\s+as\s+\w+$|\s", "", tree)]
    start = tree.index("{")
    inner, paths, depth, part = tree[start + 1 : _closing(tree, start)], [], 0, ""
    for letter in inner + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part.strip():
                paths += [tree[:start].replace(" ", "") + path for path in _names(part)]
            part = ""
        else:
            part += letter
    return paths


@dataclass
class File:
    """A file of a crate."""

    path: Path
    #: The modules from the crate's root to this one; none for the root.
    module: tuple[str, ...]
    code: str
    #: Lines without what only tests need.
    lines: int

    @property
    def node(self):
        """The module below the crate's root that this file belongs to."""
        return self.module[0] if self.module else "lib"


@dataclass
class Crate:
    """A crate, read from its root along its `mod` lines."""

    name: str
    files: list[File] = field(default_factory=list)

    def read(self, path, module, folder):
        """Add a file and the modules that it declares."""
        code = _product(path.read_text())
        self.files.append(File(path, module, code, sum(bool(line.strip()) for line in code.splitlines())))
        for match in MODULE.finditer(code):
            if match[2] == ";":
                name = match[1]
                beside, below = folder / f"{name}.rs", folder / name / "mod.rs"
                self.read(beside if beside.exists() else below, (*module, name), folder / name)

    def imports(self):
        """Return the imports between modules below the root: importer, imported, place of the first."""
        nodes = {file.node for file in self.files}
        root = next(file for file in self.files if not file.module)
        # Macros that other crates may use stand at the root, whichever module has them.
        where = {name: file.node for file in self.files for name in MACRO.findall(file.code)}
        for path in (path for match in RE_EXPORT.finditer(root.code) for path in _names(match[1])):
            parts = re.sub(r"^(crate|self)::", "", path).split("::")
            if parts[0] in nodes and parts[-1] == "*":
                for file in self.files:
                    if file.node == parts[0]:
                        where |= dict.fromkeys(DECLARED.findall(file.code), parts[0])
            elif parts[0] in nodes:
                where[parts[-1]] = parts[0]
        edges = {}
        for file in self.files:
            # What the root shows of others is not its own.
            code = RE_EXPORT.sub(lambda match: _blank(match[0]), file.code) if file is root else file.code
            inner = [(match.start(), _closing(code, match.end() - 1)) for match in MODULE.finditer(code) if match[2] == "{"]
            for match in PATH.finditer(code):
                depth = len(file.module) + sum(start < match.start() < end for start, end in inner)
                if match[1] != "crate" and match[1].count("super") != depth:
                    continue
                first = re.compile(r"\w+|\{|\*").match(code, match.end())[0]
                if first == "{":
                    paths = _names(code[match.end() : _closing(code, match.end()) + 1])
                    firsts = {path.split("::")[0] for path in paths} - {"self", "*"}
                else:
                    firsts = {first} - {"*"}
                for first in firsts:
                    other = first if first in nodes else where.get(first, "lib")
                    line = code.count("\n", 0, match.start()) + 1
                    if other != file.node:
                        edges.setdefault(file.node, {}).setdefault(other, f"{_place(file.path)}:{line}")
        return edges


@cache
def _crates():
    """Return the crates of the workspace, by name."""
    crates = {}
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        crate = Crate(manifest.parent.name)
        crate.read(manifest.parent / "src" / "lib.rs", (), manifest.parent / "src")
        crates[crate.name] = crate
    return crates


# -------------------------------------------------------------------------------------------------------------- reading Python


def _python_imports():
    """Return the imports between modules of the package, those for types and within functions too, file by file."""
    package = ROOT / "python" / "fabricsim"
    files = [
        path
        for path in sorted(package.rglob("*.py*"))
        if path.suffix in (".py", ".pyi") and "studies" not in path.relative_to(package).parts
    ]

    def node(parts):
        return ".".join(parts) or "__init__"

    def dotted(path):
        parts = path.relative_to(package).with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    nodes = {node(dotted(path)) for path in files}
    read = {path: ast.parse(path.read_text()) for path in files}
    # Where the names come from that the package shows.
    shown = {}
    for part in read[package / "__init__.pyi"].body:
        if isinstance(part, ast.ImportFrom) and (part.level or (part.module or "").startswith("fabricsim.")):
            module = (part.module or "").removeprefix("fabricsim.").split(".")[0]
            shown |= {name.asname or name.name: module or name.name for name in part.names}
    edges = {}
    for path, tree in read.items():
        me = dotted(path)
        around = me if path.stem == "__init__" else me[:-1]
        for part in ast.walk(tree):
            targets = []
            if isinstance(part, ast.Import):
                targets = [tuple(name.name.split(".")[1:]) for name in part.names if name.name.split(".")[0] == "fabricsim"]
            elif isinstance(part, ast.ImportFrom):
                module = tuple((part.module or "").split(".")) if part.module else ()
                if part.level:
                    base = around[: len(around) - part.level + 1] + module
                elif module[:1] == ("fabricsim",):
                    base = module[1:]
                else:
                    continue
                # What is no module of its own comes from the module that is named.
                inner = [(*base, name.name) for name in part.names]
                targets = [target if node(target) in nodes or not base else base for target in inner]
            for target in targets:
                other = node(target)
                other = other if other in nodes else shown.get(other, "__init__")
                if other in nodes and other != node(me):
                    edges.setdefault(node(me), {}).setdefault(other, f"{_place(path)}:{part.lineno}")
    lines = {}
    for path in files:
        lines[node(dotted(path))] = lines.get(node(dotted(path)), 0) + path.read_text().count("\n")
    return edges, lines


# --------------------------------------------------------------------------------------------------------------------- circles


def _circles(edges):
    """Return the nodes that can be reached from themselves through others, circle by circle."""
    nodes = sorted(set(edges) | {other for others in edges.values() for other in others})
    reached = {}
    for start in nodes:
        seen, todo = set(), [start]
        while todo:
            for other in edges.get(todo.pop(), {}):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        reached[start] = seen
    circles, done = [], set()
    for one in nodes:
        if one not in done:
            circle = {other for other in reached[one] if other != one and one in reached[other]}
            if circle:
                circles.append(circle | {one})
                done |= circle | {one}
    return circles


def _way(edges, start, circle):
    """Return a shortest way from a module back to itself, with the place of each import."""
    before, todo = {}, [start]
    for at in todo:
        for other in edges.get(at, {}):
            if other == start and at != start:
                way, to = [], start
                while True:
                    way.append(f"{at} -> {to} ({edges[at][to]})")
                    if at == start:
                        return "; ".join(reversed(way))
                    at, to = before[at], at
            if other in circle and other not in before and other != start:
                before[other] = at
                todo.append(other)
    raise ValueError(f"{start} is in no circle")


def _graphs():
    """Return imports and lines by module, of each crate and of the Python package."""
    graphs = {}
    for crate in _crates().values():
        lines = {}
        for file in crate.files:
            lines[file.node] = lines.get(file.node, 0) + file.lines
        graphs[crate.name] = crate.imports(), lines
    graphs["python"] = _python_imports()
    return graphs


def test_modules_import_each_other_in_no_new_circle(capsys):
    wrong, measures = [], []
    for name, (edges, lines) in _graphs().items():
        circles = _circles(edges)
        found, known = set().union(*circles), KNOWN_CIRCLES.get(name, set())
        measures.append(
            f"{name}: {len(found)} of {len(lines)} modules in circles, "
            f"{sum(lines[module] for module in found)} of {sum(lines.values())} lines"
        )
        for circle in circles:
            wrong += [f"{name}: {module} is in a circle: {_way(edges, module, circle)}" for module in sorted(circle - known)]
        wrong += [f"{name}: {module} is in no circle any more: take it off the list" for module in sorted(known - found)]
    wrong += [f"{name}: there is no such crate: take it off the list" for name in sorted(set(KNOWN_CIRCLES) - set(_graphs()))]
    with capsys.disabled():
        print("", *measures, sep="\n")
    assert not wrong, "\n".join(wrong)


def test_a_planted_circle_is_found_and_what_only_tests_import_is_none(tmp_path):
    texts = {
        "lib.rs": "mod high;\nmod low;\nmod side;\npub use high::High;\n#[cfg(test)]\nmod tests;\n",
        "low.rs": "use crate::{side::{Left, Right}, High}; // use crate::low;\n",
        "high.rs": "use super::low::Low;\n#[cfg(test)]\nmod tests { use crate::side::Left; }\n",
        "side.rs": '//! [`crate::low`]\nconst TEXT: &str = "crate::low::Low";\nmod inner { use super::Left; }\n',
        "tests.rs": "use crate::low::Low;\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    crate = Crate("planted")
    crate.read(tmp_path / "lib.rs", (), tmp_path)
    edges = crate.imports()
    assert edges == {"low": {"side": "low.rs:1", "high": "low.rs:1"}, "high": {"low": "high.rs:1"}}
    assert _circles(edges) == [{"high", "low"}]
    assert _way(edges, "low", {"high", "low"}) == "low -> high (low.rs:1); high -> low (high.rs:1)"


def test_crates_depend_on_each_other_in_no_circle():
    edges = {}
    for name in _crates():
        manifest = tomllib.loads((ROOT / "crates" / name / "Cargo.toml").read_text())
        tables = [manifest.get(table, {}) for table in ("dependencies", "dev-dependencies", "build-dependencies")]
        others = {other.removeprefix("fabricsim-") for table in tables for other in table} & set(_crates())
        edges[name] = dict.fromkeys(others, f"crates/{name}/Cargo.toml")
    assert [_way(edges, min(circle), circle) for circle in _circles(edges)] == []


# -------------------------------------------------------------------------------------------------------------------- measures


def _functions():
    """Return the functions of all crates: place and name, lines, arguments."""
    for crate in _crates().values():
        for file in crate.files:
            for match in FUNCTION.finditer(file.code):
                line = file.code.count("\n", 0, match.start()) + 1
                # Generic parameters hold brackets of functions only: `F: Fn(u32) -> u32`.
                at, depth = match.end(), 0
                while file.code[at] != "(" or depth:
                    if file.code[at] in "([{":
                        at = _closing(file.code, at)
                    depth += {"<": 1, ">": -(file.code[at - 1] != "-")}.get(file.code[at], 0)
                    at += 1
                end = _closing(file.code, at)
                arguments, depth = [""], 0
                for i in range(at + 1, end):
                    letter = file.code[i]
                    depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
                    depth -= letter == ">" and file.code[i - 1] not in "-="
                    if letter == "," and depth == 0:
                        arguments.append("")
                    else:
                        arguments[-1] += letter
                body = re.compile(r"[;{]").search(file.code, end)
                # A semicolon may stand in a type: `-> [u32; 3] {`.
                while body[0] == ";" and file.code.count("[", end, body.start()) > file.code.count("]", end, body.start()):
                    body = re.compile(r"[;{]").search(file.code, body.end())
                last = _closing(file.code, body.start()) if body[0] == "{" else body.start()
                lines = file.code.count("\n", match.start(), last) + 1
                place = f"{_place(file.path)}:{line} {match[1]}"
                yield place, lines, sum(bool(argument.strip()) for argument in arguments)


def _at_most(limit, offenders, what):
    """Fail with all offenders if there are more than the limit."""
    assert len(offenders) <= limit, f"{len(offenders)} {what}, at most {limit}:\n" + "\n".join(offenders)


def test_no_more_functions_are_long():
    long = sorted(((lines, place) for place, lines, _ in _functions() if lines > LONG), reverse=True)
    _at_most(LONG_FUNCTIONS, [f"{lines} lines: {place}" for lines, place in long], f"functions have more than {LONG} lines")


def test_no_more_functions_have_many_arguments():
    wide = sorted(((arguments, place) for place, _, arguments in _functions() if arguments > WIDE), reverse=True)
    _at_most(WIDE_FUNCTIONS, [f"{n} arguments: {place}" for n, place in wide], f"functions have more than {WIDE} arguments")


def test_no_more_types_share_a_name():
    files = {}
    for crate in _crates().values():
        for file in crate.files:
            for name in TYPE.findall(file.code):
                files.setdefault(name, set()).add(_place(file.path))
    repeated = sorted(((len(where), name, where) for name, where in files.items() if len(where) > 1), reverse=True)
    words = [f"{name}: {', '.join(sorted(where))}" for _, name, where in repeated]
    _at_most(REPEATED_NAMES, words, "names of types are declared in more than one file")


def test_the_largest_crate_is_no_larger_a_part_of_all():
    lines = {crate.name: sum(file.lines for file in crate.files) for crate in _crates().values()}
    share = 100 * max(lines.values()) / sum(lines.values())
    assert share <= LARGEST_CRATE, f"the largest crate has {share:.1f} % of all lines, at most {LARGEST_CRATE}: {lines}"


#: Programs of tests beside the one of each crate: these build a copy of the tree, or write pages of all of it.
TEST_PROGRAMS = {"crates/extending/tests/pages.rs", "crates/extending/tests/tree.rs"}


def test_tests_of_a_crate_are_one_program_and_every_file_is_in_it():
    for tests in sorted(ROOT.glob("crates/**/tests")):
        if not (tests.parent / "Cargo.toml").is_file():
            continue
        programs = [*tests.glob("*.rs"), *tests.glob("*/main.rs")]
        programs = [program for program in programs if _place(program) not in TEST_PROGRAMS]
        assert len(programs) <= 1, f"each program links the simulator once more: {', '.join(map(_place, sorted(programs)))}"
        for program in programs:
            if program.name == "main.rs":
                named = {name for name, _ in MODULE.findall(program.read_text(encoding="utf-8"))}
                there = {path.stem for path in program.parent.iterdir()} - {"main"}
                assert named == there, f"{_place(program)} leaves out files, or names what is not there: {sorted(named ^ there)}"


#: What is built: tests of a crate, all tests, the package.
BUILDS = (
    ("-p", "fabricsim-vocabulary", "-e", "normal,dev"),
    ("-p", "fabricsim-judge", "-e", "normal,dev"),
    ("--workspace", "--exclude", "fabricsim-py", "-e", "normal,dev"),
    ("-p", "fabricsim-py", "-e", "normal"),
)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_crates_are_compiled_once_whatever_is_built_with_them():
    def tree(*words):
        command = ["cargo", "tree", "--locked", "--prefix", "none", "--format", "{p}|{f}", *words]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return {tuple(line.removesuffix(" (*)").split("|")) for line in told.splitlines() if "|" in line}

    needed = {package for package, _ in tree("-p", "fabricsim-judge", "-e", "normal")}
    found = {}
    for build in BUILDS:
        for package, features in tree(*build):
            if package in needed:
                found.setdefault(package, {}).setdefault(features, " ".join(build))
    several = {package: choices for package, choices in found.items() if len(choices) > 1}
    assert not several, f"ask for the features of these in crates/trace/Cargo.toml, which says why: {several}"


def test_tests_that_make_asks_for_are_there():
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("crates/*/tests/all/*.rs")]
    known = {name for text in texts for name in re.findall(r"^(?:fn|mod) (\w+)", text, re.MULTILINE)}
    lines = re.findall(r"--test all (?:-- )?([\w: ]+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    wanted = [word.removesuffix("::") for line in lines for word in line.split()]
    assert len(wanted) >= 5
    # Cargo runs no test, and is content, where a name is on none.
    missing = [word for word in wanted if not any(name.startswith(word) for name in known)]
    assert not missing, f"no test has these names: {missing}"
