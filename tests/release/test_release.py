"""What is built is whole, the same bytes each time, and needs nothing but what it declares."""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import jsonschema
import pytest
import yaml

from release import about, bundle, registry

ROOT = Path(__file__).parents[2]
KEPT_OUT = {".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "node_modules", "dist"}
URL = "https://example.org/notes-mcp.mcpb"


def build(tree, out):
    command = [sys.executable, "-m", "release", f"--out={out}", f"--url={URL}", "--namespace=io.github.owner"]
    subprocess.run(command, cwd=tree, check=True, stdout=subprocess.PIPE)
    return {path.name: path for path in Path(out).iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("dist"))


def test_another_copy_of_the_tree_gives_the_same_bytes(built, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=lambda _, names: KEPT_OUT.intersection(names), symlinks=True)
    for path in copy.rglob("*.py"):
        path.chmod(0o600)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    (copy / "notes_mcp" / "__pycache__").mkdir(exist_ok=True)
    (copy / "notes_mcp" / "__pycache__" / "left.cpython-311.pyc").write_bytes(b"left over")
    again = build(copy, tmp_path / "dist")
    assert again.keys() == built.keys()
    for name, path in built.items():
        assert again[name].read_bytes() == path.read_bytes(), name


def test_the_wheel_holds_the_package_and_nothing_else(built):
    [wheel] = [path for name, path in built.items() if name.endswith(".whl")]
    names = zipfile.ZipFile(wheel).namelist()
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "notes_mcp").rglob("*.py")} | {"notes_mcp/py.typed"}
    assert {name for name in names if ".dist-info/" not in name} == ours


def test_the_sdist_holds_what_the_tests_need(built):
    [sdist] = [path for name, path in built.items() if name.endswith(".tar.gz")]
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".ci/run",
        "tests/test_imports.py",
        "release/bundle.py",
        "docs/session.svg",
    } <= names
    assert {f"sample_notes/{path.name}" for path in (ROOT / "sample_notes").glob("*.md")} <= names
    assert not [name for name in names if name.endswith(".pyc")]


def test_every_import_is_of_the_standard_library_or_a_declared_dependency():
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.match(r"[\w.-]+", entry)[0].lower() for entry in table["dependencies"]}
    used = set()
    for path in (ROOT / "notes_mcp").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            elif isinstance(node, ast.Call) and "import_module" in {
                ast.unparse(part) for part in (node.func, *node.args)
            }:
                names = [text.value for text in node.args if isinstance(text, ast.Constant)]
            else:
                continue
            used |= {name.partition(".")[0] for name in names}
    owners = packages_distributions()
    foreign = used - sys.stdlib_module_names - {"notes_mcp"}
    assert {owner.lower() for name in foreign for owner in owners[name]} == declared


def test_the_bundle_starts_what_its_manifest_says(built, tmp_path):
    [packed] = [path for name, path in built.items() if name.endswith(".mcpb")]
    zipfile.ZipFile(packed).extractall(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert (tmp_path / manifest["server"]["entry_point"]).is_file()
    assert (tmp_path / "pyproject.toml").read_bytes() == (ROOT / "pyproject.toml").read_bytes()
    config = manifest["server"]["mcp_config"]
    asked = set(re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(config)))
    assert asked == manifest["user_config"].keys()
    assert config["args"][-1] == "${user_config.folders}" and manifest["user_config"]["folders"]["multiple"]
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert config["args"][-2] in project["scripts"]
    for setting in config["env"]:
        assert setting in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_the_bundle_serves_the_folder_it_was_given(built, tmp_path):
    [packed] = [path for name, path in built.items() if name.endswith(".mcpb")]
    zipfile.ZipFile(packed).extractall(tmp_path / "bundle")
    shutil.copytree(ROOT / "sample_notes", tmp_path / "notes")
    config = json.loads((tmp_path / "bundle" / "manifest.json").read_text(encoding="utf-8"))["server"]["mcp_config"]
    given = {"${__dirname}": tmp_path / "bundle", "${user_config.folders}": tmp_path / "notes"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bundle", "version": "1"}}
    said = subprocess.run(
        [shutil.which(config["command"], path=Path(sys.executable).parent), *(given.get(a, a) for a in config["args"])],
        input="".join(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
            for number, (method, params) in enumerate([("initialize", hello), ("tools/list", {})])
        ).encode(),
        env={**os.environ, "NOTES_MCP_READ_ONLY": "true", "NOTES_MCP_CACHE_DIR": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        check=True,
    )
    greeting, listed = (json.loads(line)["result"] for line in said.stdout.splitlines())
    assert greeting["serverInfo"]["name"] == "notes-mcp"
    assert "read_note" in str(listed) and "edit_note" not in [tool["name"] for tool in listed["tools"]]


def test_the_manifest_names_every_tool(built):
    [packed] = [path for name, path in built.items() if name.endswith(".mcpb")]
    manifest = json.loads(zipfile.ZipFile(packed).read("manifest.json"))
    files = (ROOT / "notes_mcp" / "tools").glob("[!_]*.py")
    assert [tool["name"] for tool in manifest["tools"]] == sorted(path.stem for path in files)
    assert manifest["version"] == about.read(ROOT).version


def test_the_manifest_passes_the_bundle_validator(built, tmp_path, node_tool):
    [packed] = [path for name, path in built.items() if name.endswith(".mcpb")]
    zipfile.ZipFile(packed).extractall(tmp_path)
    mcpb = node_tool("@anthropic-ai/mcpb@2.1.2", "mcpb")
    said = subprocess.run([*mcpb, "validate", tmp_path / "manifest.json"], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    broken = {**json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8")), "server": {"type": "nonsense"}}
    (tmp_path / "broken.json").write_text(json.dumps(broken), encoding="utf-8")
    said = subprocess.run([*mcpb, "validate", tmp_path / "broken.json"], capture_output=True, text=True)
    assert said.returncode != 0


def test_the_registry_entry_validates_against_the_registrys_schema(built):
    schemas = pytest.importorskip("skillsaw", reason="the schema comes with the `skillsaw` package").__path__[0]
    schema = json.loads(
        (Path(schemas) / "schemas/mcp_registry/v2025_12_11/server.schema.json").read_text(encoding="utf-8")
    )
    entry = json.loads(built["server.json"].read_text(encoding="utf-8"))
    assert entry["$schema"] == schema["$id"] == registry.SCHEMA
    jsonschema.validate(entry, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry | {"description": "too long " * 20}, schema)


def test_the_registry_entry_names_the_bundle_by_its_hash(built):
    [packed] = [path for name, path in built.items() if name.endswith(".mcpb")]
    [package] = json.loads(built["server.json"].read_text(encoding="utf-8"))["packages"]
    assert package["identifier"] == URL
    assert package["fileSha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()


def test_a_registry_entry_without_its_publisher_is_refused(tmp_path):
    command = [sys.executable, "-m", "release", f"--out={tmp_path}", f"--url={URL}"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 2 and "--namespace" in said.stderr
    assert not list(tmp_path.iterdir())


def test_a_tree_without_a_version_is_refused(tmp_path):
    (tmp_path / "notes_mcp").mkdir()
    (tmp_path / "notes_mcp" / "__init__.py").write_text('"""No version."""\n', encoding="utf-8")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with pytest.raises(ValueError, match="__version__"):
        about.read(tmp_path)


def test_a_bundle_does_not_depend_on_the_order_or_time_of_its_files(tmp_path):
    first = bundle.write(ROOT, tmp_path / "a.mcpb", {"name": "x"}).read_bytes()
    assert bundle.write(ROOT, tmp_path / "b.mcpb", {"name": "x"}).read_bytes() == first


def test_a_fresh_environment_built_from_the_wheel_serves_the_sample_notes(built, tmp_path):
    [wheel] = [path for name, path in built.items() if name.endswith(".whl")]
    shutil.copytree(ROOT / "sample_notes", tmp_path / "notes")
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel], check=True)
    command = python.with_name("notes-mcp.exe" if os.name == "nt" else "notes-mcp")
    home = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    said = subprocess.run(
        [command, "check", "--json", f"--cache-dir={tmp_path / 'cache'}", tmp_path / "notes"],
        cwd=tmp_path,
        env={**os.environ, **home, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    freeze = subprocess.run([python, "-m", "pip", "check"], capture_output=True, text=True)
    assert freeze.returncode == 0, freeze.stdout


def test_the_workflow_runs_every_promised_python_on_every_promised_system():
    text = (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    matrix = yaml.safe_load(text)["jobs"]["checks"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    for check in ("pytest", "ruff check", "ruff format --check", "mypy"):
        assert f"python -m {check}" in text
