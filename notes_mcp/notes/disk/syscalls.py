"""The renames that Python's `os` has no words for: one that never replaces, one that exchanges two files.

By ctypes, on descriptors of directories. Raises nothing; an error is the number that the system gives.
"""

import functools
import sys
from collections.abc import Callable
from typing import Literal, TypeAlias

# renameat2(2) and renameatx_np(2), with their flags.
_FLAGGED = {
    "linux": ("renameat2", {"never replace": 1, "exchange": 2}),
    "darwin": ("renameatx_np", {"never replace": 4, "exchange": 2}),
}

Rename: TypeAlias = Callable[[int, bytes, int, bytes], int]


@functools.cache
def flagged_rename(how: Literal["never replace", "exchange"]) -> Rename | None:
    """The call, which gives 0 or an errno; None where the system has none. Of what it cannot do it says so."""
    symbol, flags = _FLAGGED.get(sys.platform, ("", {}))
    if not symbol:
        return None
    import ctypes  # 10 ms, and only writers pay

    function = getattr(ctypes.CDLL(None, use_errno=True), symbol, None)
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def call(from_fd: int, name: bytes, to_fd: int, new: bytes) -> int:
        return 0 if function(from_fd, name, to_fd, new, flags[how]) == 0 else ctypes.get_errno()

    return call
