"""What a checkout of the specification asks for and nobody has gone through yet: `unread.py CHECKOUT [REVISION…]`.

Lists the sentences that have neither a row in `rows/` nor a mark in `left_out.toml`, page by page; those with `=` are
rows already, of other places or revisions. Without a revision, of every one this server serves. Exit code 1 if any.
"""

import sys
from itertools import groupby
from pathlib import Path

from spec_table import left_out, rows, sentences, unread

from notes_mcp.protocol.values import REVISIONS


def main(checkout: str, *revisions: str) -> int:
    table, marks = rows(), left_out()
    left = [each for revision in revisions or REVISIONS for each in sentences(Path(checkout), revision)]
    left, known = unread(left, table, marks), {row.says for row in table}
    for (revision, page), group in groupby(left, key=lambda each: (each.revision, each.page)):
        print(f"{revision} {page}")
        for each in group:
            print(f"  {'=' if each.text in known else ' '} [{each.section}] {each.text}")
    print(f"{len(left)} sentences to go through")
    return 1 if left else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: unread.py CHECKOUT [REVISION...]")
    sys.exit(main(*sys.argv[1:]))
