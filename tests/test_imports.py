"""The arrows of the house: who may import whom. Read with `ast`, so that lazy imports count as well."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "notes_mcp"
LEAVES = {"errors", "events", "settings"}
MAY_IMPORT = {
    "errors": set(),
    "events": set(),
    "settings": set(),
    "wire": LEAVES,
    "protocol": LEAVES | {"wire"},
    "notes": LEAVES,
    "tools": LEAVES | {"notes"},
    "features": LEAVES | {"notes", "tools"},
    "instructions": {"settings"},
    "app": LEAVES | {"wire", "protocol", "notes", "tools", "features", "instructions"},
    "faults": set(),
    "install": {"settings", "faults"},
    "probe": set(),
    "report": set(),
    "screen": {"report"},
    "check": {"settings", "probe", "report", "screen", "install"},
    "cli": {"settings", "faults", "app", "check", "install", "wire"},
    "__main__": {"cli"},
}
ONLY_IN = {
    "apsw": {"notes/index/connections.py", "notes/index/schema.py"},
    "watchfiles": {"notes/disk/watcher.py"},
    "threading": {"notes/workers.py", "wire/pumps.py"},
    "pydantic": {"tools"},
    "mcp": set(),
    "mcp_types": set(),
}


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_imports_only_the_rooms_below_it(path):
    own = room(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "notes_mcp" and len(parts) > 1 and parts[1] not in ("__version__", own):
            assert parts[1] in MAY_IMPORT[own], f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_guarded_package_stays_in_its_room(path):
    relative = path.relative_to(ROOT).as_posix()
    for name in imported(path):
        rooms = ONLY_IN.get(name.split(".")[0])
        assert rooms is None or relative in rooms or room(path) in rooms, f"{relative} imports {name}"


def test_no_module_imports_itself_in_a_circle():
    graph = {}
    for path in modules():
        own = ".".join(("notes_mcp", *path.relative_to(ROOT).with_suffix("").parts))
        graph[own.removesuffix(".__init__")] = {name for name in imported(path) if name.startswith("notes_mcp")}
    known = {name: {_module(target, graph) for target in targets} - {name} for name, targets in graph.items()}
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name in done:
            return
        path.append(name)
        for target in sorted(known.get(name, ())):
            visit(target)
        path.pop()
        done.add(name)

    for name in known:
        visit(name)


def _module(target, graph):
    return target if target in graph else target.rpartition(".")[0]


def test_the_rules_name_every_room_there_is():
    assert {room(path) for path in modules()} == set(MAY_IMPORT)
