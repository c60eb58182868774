"""What `pyproject.toml` and the package say about the project: read once, said the same everywhere."""

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path

# At most 100 characters: the registry takes no more.
DESCRIPTION = "Your local folder of notes, searched, read and edited with care, in every script."


@dataclass(frozen=True)
class Project:
    """The facts a manifest repeats. `requires_python` is a version specifier, e.g. ">=3.11"."""

    name: str
    version: str
    description: str
    author: str
    license: str
    keywords: list[str]
    requires_python: str


def read(root: Path) -> Project:
    """The project at `root`. Raises KeyError or ValueError where a fact is missing."""
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Project(
        name=table["name"],
        version=_version(root / table["name"].replace("-", "_") / "__init__.py"),
        description=table["description"],
        author=table["authors"][0]["name"],
        license=table["license"],
        keywords=table["keywords"],
        requires_python=table["requires-python"],
    )


def _version(module: Path) -> str:
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return str(ast.literal_eval(node.value))
    raise ValueError(f"{module} has no __version__")
