"""The structure of the package in numbers, and the limits that `make lint` holds it to.

    python -m eval.structure            the numbers
    python -m eval.structure --check    what is beyond a limit; exit status 1 if anything is

Reads the package as text: imports for type checking and imports inside functions count as any other.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "semcache"
ENTRIES, LINES, PARAMETERS, METHODS = 23, 400, 8, 12
_SHARED = frozenset({"__init__", "__main__", "base"})  # names that every package may have a module of
_COMMANDS = re.compile(r"\b(?:command|callback)\(")
_INDIRECT = re.compile(r"\s*(?:What|Whether)\b")


@dataclass(frozen=True)
class Module:
    """A module of the package: its dotted name, its file and its syntax tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    def imports(self, known: frozenset[str]) -> set[str]:
        """Return the modules of the package that this one imports, wherever in the file."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {_within(alias.name, known) for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {_within(f"{node.module}.{alias.name}", known) for alias in node.names}
        return found - {"", self.name}


def _within(dotted: str, known: frozenset[str]) -> str:
    """Return the longest known module that a dotted name begins with, "" for none."""
    while dotted and dotted not in known:
        dotted = dotted.rpartition(".")[0]
    return dotted


def modules(root: Path = ROOT) -> list[Module]:
    """Return every module of the package, in the order of their paths."""
    found = []
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, path.relative_to(root), text, ast.parse(text)))
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module (Tarjan, SIAM J. Comput. 1, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(one: str) -> None:
        index[one] = low[one] = len(index)
        stack.append(one)
        for other in sorted(graph[one]):
            if other not in index:
                visit(other)
                low[one] = min(low[one], low[other])
            elif other in stack:
                low[one] = min(low[one], index[other])
        if low[one] == index[one]:
            component = stack[stack.index(one) :]
            del stack[stack.index(one) :]
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * len(graph)))
    for one in sorted(graph):
        if one not in index:
            visit(one)
    return found


def entries(root: Path = ROOT) -> list[str]:
    """Return the files and folders at the top of the package."""
    return sorted(path.name for path in (root / PACKAGE).iterdir() if path.name != "__pycache__")


def names_twice(known: list[Module]) -> dict[str, list[str]]:
    """Return the names that more than one module has, with those modules."""
    places: dict[str, list[str]] = {}
    for one in known:
        if "migrations" not in one.path.parts:
            places.setdefault(one.path.stem, []).append(one.name)
    return {name: where for name, where in places.items() if len(where) > 1 and name not in _SHARED}


def classes_twice(known: list[Module]) -> dict[str, int]:
    """Return how often each public class name occurs that occurs more than once."""
    counts = Counter(
        node.name
        for one in known
        for node in one.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name: count for name, count in sorted(counts.items()) if count > 1}


def parameters(known: list[Module]) -> Iterator[tuple[str, int]]:
    """Yield every function that is no command of the command line, with how many parameters it has."""
    commands = {name for one in known for node in ast.walk(one.tree) for name in _registered(node)}
    for one in known:
        for node in ast.walk(one.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in commands:
                continue
            if any(_COMMANDS.search(ast.unparse(decorator) + "(") for decorator in node.decorator_list):
                continue
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            if any("typer." in ast.unparse(each.annotation) for each in given if each.annotation is not None):
                continue
            yield f"{one.path}:{node.lineno} {node.name}", len([arg for arg in given if arg.arg not in ("self", "cls")])


def _registered(node: ast.AST) -> Iterator[str]:
    """Yield the function that `app.command(...)(function)` makes a command."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and _COMMANDS.search(ast.unparse(node.func)):
        for argument in node.args:
            yield ast.unparse(argument).rpartition(".")[2]


def protocols(known: list[Module]) -> Iterator[tuple[str, int]]:
    """Yield every Protocol with the number of members that it asks for beyond those that it inherits."""
    for one in known:
        for node in one.tree.body:
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base).startswith("Protocol") for base in node.bases):
                yield (
                    f"{one.name}.{node.name}",
                    sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in node.body),
                )


def indirect_docstrings(known: list[Module]) -> list[str]:
    """Return the definitions whose docstring begins with "What" or "Whether" instead of saying what the thing is."""
    found = []
    for one in known:
        for node in ast.walk(one.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node, clean=False)
                if text and _INDIRECT.match(text):
                    found.append(f"{one.path}:{getattr(node, 'lineno', 1)}")
    return found


def beyond(known: list[Module]) -> list[str]:
    """Return one line for everything that is beyond a limit."""
    graph_names = frozenset(one.name for one in known)
    graph = {one.name: one.imports(graph_names) for one in known}
    top = entries()
    lines = [f"{len(top)} entries at the top of {PACKAGE}/, at most {ENTRIES}: {', '.join(top)}"] * (len(top) > ENTRIES)
    lines += [f"modules of one name: {', '.join(where)}" for where in names_twice(known).values()]
    lines += [f"{count} classes are called {name}" for name, count in classes_twice(known).items()]
    lines += [f"a circle: {' -> '.join([*circle, circle[0]])}" for circle in circles(graph)]
    lines += [f"{one.path}: {count} lines, at most {LINES}" for one in known if (count := one.text.count("\n")) > LINES]
    lines += [
        f"{where}: {count} parameters, at most {PARAMETERS}" for where, count in parameters(known) if count > PARAMETERS
    ]
    lines += [f"{name}: {count} methods, at most {METHODS}" for name, count in protocols(known) if count > METHODS]
    lines += [f"{where}: a docstring that begins with What or Whether" for where in indirect_docstrings(known)]
    return lines


def main() -> None:
    """Print the numbers, or what is beyond a limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="print what is beyond a limit, and fail if anything is")
    chosen = parser.parse_args()
    known = modules()
    if chosen.check:
        lines = beyond(known)
        print("\n".join(lines) or f"{len(known)} modules within every limit")
        sys.exit(bool(lines))
    names = frozenset(one.name for one in known)
    sizes = sorted(one.text.count("\n") for one in known)
    widest = max(protocols(known), key=lambda one: one[1])
    print(f"entries at the top of {PACKAGE}/: {len(entries())}")
    print(f"modules: {len(known)}, lines: {sum(sizes)}, median {sizes[len(sizes) // 2]}, longest {sizes[-1]}")
    print(f"module names used twice: {len(names_twice(known))}")
    print(f"public class names used twice: {len(classes_twice(known))}")
    print(f"circles among modules: {len(circles({one.name: one.imports(names) for one in known}))}")
    print(f"methods of the widest protocol: {widest[1]} ({widest[0]})")
    print(f"most parameters of a function: {max(count for _, count in parameters(known))}")


if __name__ == "__main__":
    main()
