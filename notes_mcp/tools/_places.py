"""Folder arguments as models write them -> the library's form. Pure; the path gate still decides."""


def folder_of(text: str | None) -> str | None:
    """`Projects/`, `./Projects` -> `Projects`; "", ".", "/" and `notes:///` mean the whole folder: None."""
    if text is None:
        return None
    folder = text.strip().removeprefix("notes:///").replace("\\", "/")
    while folder.startswith("./"):
        folder = folder[2:]
    if folder.strip("/") in ("", "."):
        return None
    return folder.rstrip("/")
