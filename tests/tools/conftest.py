import json
from typing import Any

import jsonschema
import pytest
from library_fake import FakeLibrary

from notes_mcp.tools import _catalog


def no_report(done: float, total: float | None, text: str) -> None:
    return None


class Caller:
    """Calls tools as tools/call would, and holds every answer to its outputSchema and the budget."""

    def __init__(self, library: Any) -> None:
        self.library = library

    async def __call__(self, tool_name: str, **arguments: Any) -> dict[str, Any]:
        tool = _catalog.load(tool_name)[tool_name]
        answer = await tool.run(arguments, self.library, no_report)
        schema = tool.definition().get("outputSchema")
        texts = [block["text"] for block in answer["content"] if block["type"] == "text"]
        assert sum(map(len, texts)) <= self.library.settings.max_answer_chars + 4_500
        if schema is None:
            assert "structuredContent" not in answer
        else:
            jsonschema.Draft202012Validator(schema).validate(answer["structuredContent"])
            assert json.loads(texts[0]) == answer["structuredContent"]
            assert len(texts[0]) <= self.library.settings.max_answer_chars
        return answer


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary(
        {
            "Home.md": b"# Home\n\nSee [[Projects/Plan]].\n",
            "Projects/Plan.md": b"---\ntags: [work]\n---\n# Plan\n\n## Steps\n\n- one\n\n## Log\n",
            "Projects/My Note.md": b"mine\n",
            "Templates/Meeting.md": b"# {{title}}\n\n{{date}} {{time}}\n",
            "pic.png": b"\x89PNG\r\n",
        }
    )


@pytest.fixture
def call(library: FakeLibrary) -> Caller:
    return Caller(library)
