"""`@tool`: one annotated function -> a Tool with its schemas, hints and `run`. JSON Schema is made here alone.

A tool is `async def NAME(args: Args, library, report) -> Result | Content`; its docstring is what
models read. Arguments: client's JSON -> `_arguments.prepare` -> Args -> function -> Result -> content
blocks. Knows no tool and no protocol; NoteErrors pass through, bad arguments raise InvalidArguments.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from notes_mcp.errors import InvalidArguments
from notes_mcp.events import Report
from notes_mcp.tools._arguments import prepare, shown

if TYPE_CHECKING:
    from notes_mcp.notes.library import Library

MAX_DESCRIPTION_BYTES = 220
DRY_RUN = "Dry run: nothing was written. This is what would be done."
# All that may stand in a schema of ours. Cursor refuses composition keywords, VS Code `$schema` and arrays
# without items, others a made-up `format`: what is not listed here raises when the tool is defined.
_KEYWORDS = ("type", "description", "enum", "default", "maximum")
_DROPPED = ("title", "minimum", "minItems", "maxItems", "const", "$defs")
_STRUCTURE = ("properties", "required", "additionalProperties", "items")


class Arguments(BaseModel):
    """The base of every tool's Args: strict, since coercion has been done by the schema already."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def reshape(cls, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a client sent, in the shape the schema asks for, where that takes more than names and types."""
        return arguments


class Result(BaseModel):
    """The base of every tool's Result: becomes `structuredContent`; fields that are None are left out.

    To stay short the outputSchema tells the types of the fields that are always there, without those in
    `unlisted`, and of `next_cursor`; a validator lets the rest pass.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    unlisted: ClassVar[tuple[str, ...]] = ()

    def verbatim(self) -> Sequence[str]:
        """Texts of several lines that go out once more as they are, not JSON-escaped."""
        return ()

    def in_vain(self) -> bool:
        """Whether nothing of what was asked for could be done: `isError`, with all that the result says."""
        return False


@dataclass(frozen=True, slots=True)
class Content:
    """An answer that is content blocks alone, without structuredContent."""

    blocks: tuple[dict[str, Any], ...]


Run: TypeAlias = Callable[[Any, "Library", Report], Awaitable[Result | Content]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what tools/list says of it, and how it is run."""

    name: str
    title: str
    description: str
    read_only: bool
    destructive: bool
    idempotent: bool
    arguments: type[Arguments]
    result: type[Result] | None
    input_schema: dict[str, Any]
    function: Run

    def definition(self) -> dict[str, Any]:
        """The tool as tools/list shows it (2026-07-28 server/tools, "Tool")."""
        shape: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
        }
        if self.result is not None:
            shape["outputSchema"] = _output_schema(self.result)
        shape["annotations"] = {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": False,
        }
        return shape

    async def run(self, arguments: Mapping[str, Any], library: "Library", report: Report) -> dict[str, Any]:
        """The bare CallToolResult. Raises InvalidArguments, and whatever NoteError the function raises."""
        prepared = prepare(self.arguments.reshape(arguments), self.input_schema)
        try:
            args = self.arguments.model_validate(prepared)
        except ValidationError as error:
            raise InvalidArguments(_explain(error)) from None
        answer = await self.function(args, library, report)
        if isinstance(answer, Content):
            return {"content": list(answer.blocks), "isError": False}
        structured = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        said = [DRY_RUN] if structured.get("dry_run") else []
        texts = [compact(structured), *said, *answer.verbatim()]
        blocks = [{"type": "text", "text": text} for text in texts]
        return {"content": blocks, "structuredContent": structured, "isError": answer.in_vain()}


def tool(*, title: str, read_only: bool, destructive: bool = False, idempotent: bool = False) -> Callable[[Run], Tool]:
    """Make a Tool of the function below. Raises TypeError for a shape that clients would refuse."""

    def make(function: Run) -> Tool:
        name: str = function.__name__
        hints = function.__annotations__
        description = " ".join((function.__doc__ or "").split())
        if not 0 < len(description.encode()) <= MAX_DESCRIPTION_BYTES:
            raise TypeError(f"{name}: a description has 1 to {MAX_DESCRIPTION_BYTES} bytes")
        return Tool(
            name=name,
            title=title,
            description=description,
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent,
            arguments=hints["args"],
            result=None if hints["return"] is Content else hints["return"],
            input_schema=_input_schema(hints["args"]),
            function=function,
        )

    return make


def compact(value: Any) -> str:
    """JSON as it goes over the wire: no spaces, every script as itself."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _input_schema(model: type[Arguments]) -> dict[str, Any]:
    raw = model.model_json_schema()
    schema = _plain(raw, raw.get("$defs", {}))
    schema["additionalProperties"] = False
    for name, part in schema["properties"].items():
        if "description" not in part:
            raise TypeError(f"{model.__module__}: argument {name} has no description")
    return schema


def _output_schema(model: type[Result]) -> dict[str, Any]:
    """Top-level fields and their types only; a client that validates finds nothing to stumble over."""
    raw = model.model_json_schema(mode="serialization")
    full = _plain(raw, raw.get("$defs", {}))
    shown = [name for name, field in model.model_fields.items() if field.is_required() or name == "next_cursor"]
    return {
        "type": "object",
        "properties": {name: _shallow(full["properties"][name]) for name in shown if name not in model.unlisted},
    }


def _shallow(part: Mapping[str, Any]) -> dict[str, Any]:
    short: dict[str, Any] = {"type": part["type"]}
    if "items" in part:
        short["items"] = {}
    return short


def _plain(node: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without references, composition or noise; raises TypeError for what cannot be said so."""
    node = _resolve(node, defs)
    if "type" not in node or any(key not in _KEYWORDS + _DROPPED + _STRUCTURE for key in node):
        raise TypeError(f"a schema that some client would refuse: {node}")
    plain = {key: node[key] for key in _KEYWORDS if key in node}
    if "enum" in plain or not plain.get("default"):
        plain.pop("default", None)  # an enum begins with its default, and nothing is the default of the rest
    if "properties" in node:
        plain["properties"] = {name: _plain(part, defs) for name, part in node["properties"].items()}
        plain |= {"required": node["required"]} if "required" in node else {}
    if node["type"] == "array":
        plain["items"] = _plain(node["items"], defs)
    return plain


def _resolve(node: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    own = dict(node)
    if "$ref" in own:
        target = defs[own.pop("$ref").rsplit("/", 1)[1]]
        own = {**{key: value for key, value in target.items() if key != "description"}, **own}
    if "anyOf" in own:
        options = [option for option in own["anyOf"] if option.get("type") != "null"]
        if len(options) != 1:
            raise TypeError(f"a schema that some client would refuse: {own}")
        del own["anyOf"]
        own = {**_resolve(options[0], defs), **own}
    if "const" in own:
        own["enum"] = [own["const"]]
    return own


def _explain(error: ValidationError) -> str:
    parts = []
    for problem in error.errors(include_url=False):
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"]).lstrip(".")
        if problem["type"] in ("too_long", "too_short"):
            bound = "at most" if problem["type"] == "too_long" else "at least"
            most = problem["ctx"].get("max_length", problem["ctx"].get("min_length"))
            parts.append(f"{where} must have {bound} {most} items, not {problem['ctx']['actual_length']}.")
            continue
        message = problem["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        seen = f", not {shown(problem['input'])}" if not isinstance(problem["input"], dict) else ""
        parts.append(f"{where or 'arguments'} must be {message}{seen}.")
    return " ".join(parts)
