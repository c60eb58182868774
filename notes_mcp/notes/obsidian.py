"""Obsidian's own settings files as far as we read them: JSON objects of texts. Pure; never raises."""

import json
from collections.abc import Sequence


def texts(data: bytes | None, keys: Sequence[str]) -> tuple[dict[str, str], str]:
    """Those of `keys` that the file's bytes give a text for, stripped; and what is wrong with it, "" if nothing."""
    if data is None:
        return {}, ""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        return {}, f"not valid JSON{where}"
    if not isinstance(said, dict):
        return {}, "not a JSON object"
    wrong = [key for key in keys if not isinstance(said.get(key, ""), str | None)]
    found = {key: said[key].strip() for key in keys if isinstance(said.get(key), str)}
    return found, f"{', '.join(wrong)} should be text" if wrong else ""
