"""A config's text that cannot be changed, and the place in it. Imports nothing of the project."""


class Unfit(Exception):
    """A config's text is broken, or in a form that is not changed here. Line and column are 1-based, 0 unknown."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.line, self.column = reason, line, column

    @classmethod
    def at(cls, text: str, offset: int, reason: str) -> "Unfit":
        """The same, from an offset in characters."""
        return cls(reason, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
