"""Every fact an index holds, in a form in which two indexes can be compared; and whether its file is sound."""

from notes_mcp.notes.index.index import Index
from notes_mcp.notes.index.schema import immediate


def everything(index: Index) -> dict[str, list[tuple[object, ...]]]:
    """Table by table, by path instead of by row number."""
    with index._reading() as db:
        paths = dict(db.execute("SELECT id, path FROM files").fetchall())
        told = {
            table: sorted((*row[:at], paths[row[at]], *row[at + 1 :]) for row in db.execute(f"SELECT * FROM {table}"))
            for table, at in (("tags", 1), ("aliases", 1), ("properties", 2), ("links", 0), ("flaws", 1), ("fronts", 0))
        }
        told["files"] = sorted(row[1:] for row in db.execute("SELECT * FROM files"))
        told["words"] = sorted(
            (paths[doc], term, column, offset)
            for term, doc, column, offset in db.execute("SELECT term, doc, col, offset FROM places")
        )
    return told


def require_sound(index: Index) -> None:
    """SQLite's own check of the file, and that of the full text, while no other server writes."""
    with index._writing() as db, immediate(db):
        # This one first: it looks at what other servers wrote meanwhile, where the other trusts what FTS5 remembers.
        db.execute("INSERT INTO words(words) VALUES('integrity-check')")
        found = db.execute("PRAGMA integrity_check").fetchall()
        assert found == [("ok",)], found
