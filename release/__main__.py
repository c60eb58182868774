"""`python -m release`: build wheel, sdist, MCP bundle and, told where the bundle will lie, the registry's server.json.

Prints each file with its SHA-256. Needs the `dev` extra. Uploads nothing.
"""

import argparse
import hashlib
import json
import os
from pathlib import Path

from release import about, bundle, registry

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Build what the command line asks for into `--out`."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the files go (dist)")
    parser.add_argument("--url", help="where the .mcpb of this version will be served; asks for server.json")
    parser.add_argument("--namespace", help="who publishes it, in reverse DNS, e.g. io.github.owner")
    options = parser.parse_args()
    if (options.url is None) != (options.namespace is None):
        parser.error("server.json needs both --url and --namespace")
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    for built in build(out, url=options.url, namespace=options.namespace):
        print(f"{hashlib.sha256(built.read_bytes()).hexdigest()}  {built}")


def build(out: Path, *, url: str | None, namespace: str | None) -> list[Path]:
    """Build into `out`; returns the files made. Raises what hatchling raises for a tree it cannot build."""
    from hatchling.build import build_sdist, build_wheel

    project = about.read(ROOT)
    os.chdir(ROOT)  # a PEP 517 back end builds the folder it stands in
    made = [out / build_wheel(str(out)), out / build_sdist(str(out))]
    name = f"{project.name}-{project.version}.mcpb"
    made.append(bundle.write(ROOT, out / name, bundle.manifest(project, _tools())))
    if url is not None and namespace is not None:
        entry = registry.server(project, namespace=namespace, bundle=made[-1], url=url)
        made.append(out / "server.json")
        made[-1].write_text(json.dumps(entry, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n")
    return made


def _tools() -> dict[str, str]:
    from notes_mcp.tools import _catalog

    return {name: tool.description for name, tool in _catalog.load().items()}


if __name__ == "__main__":
    main()
