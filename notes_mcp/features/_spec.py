"""What a prompt looks like in prompts/list, and whether the arguments of prompts/get fit it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from notes_mcp.errors import InvalidParams
from notes_mcp.features._params import nearest

Completes: TypeAlias = Literal["paths", "tags", "folders", "dates", "weeks"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument; `completes` says what completion/complete offers for it."""

    name: str
    description: str
    required: bool = False
    completes: Completes | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """One entry of prompts/list."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...] = ()

    def entry(self) -> dict[str, Any]:
        """The `Prompt` object of the schema."""
        arguments = [
            {"name": argument.name, "description": argument.description, "required": argument.required}
            for argument in self.arguments
        ]
        return {"name": self.name, "title": self.title, "description": self.description, "arguments": arguments}

    def argument(self, name: str) -> Argument:
        """The argument of that name. Raises InvalidParams naming the nearest one there is."""
        for argument in self.arguments:
            if argument.name == name:
                return argument
        names = [argument.name for argument in self.arguments]
        close = nearest(name, names)
        hint = f" Did you mean `{close}`?" if close else ""
        takes = f" It takes {', '.join(names)}." if names else " It takes none."
        raise InvalidParams(
            f"Prompt {self.name!r} has no argument {name[:100]!r}.{hint}{takes}", {"arguments": names, "nearest": close}
        )

    def check(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The arguments as given, without those left empty.

        Raises InvalidParams for a missing required argument, an unknown one, or a value that is no string.
        """
        for name, value in given.items():
            if not isinstance(value, str):
                raise InvalidParams(f"Argument {self.argument(name).name!r} of {self.name!r} must be a string.")
            self.argument(name)
        filled = {name: value for name, value in given.items() if value.strip()}
        missing = [argument.name for argument in self.arguments if argument.required and argument.name not in filled]
        if missing:
            names = ", ".join(missing)
            raise InvalidParams(f"Prompt {self.name!r} needs the argument {names}.", {"missing": missing})
        return filled
