"""What the server says to a person, on stderr, without ever waiting for somebody to read it.

Many clients do not read a server's stderr: its pipe fills up, and a plain handler would then stand still, and the
whole server with it. Here a line that finds no room is let go.
"""

import contextlib
import logging
import os
import select


class Complaints(logging.Handler):
    """Writes records to descriptor 2, in UTF-8, in pieces that `poll` promises to be writable; drops what is not."""

    _PIECE_BYTES = getattr(select, "PIPE_BUF", 512)

    def emit(self, record: logging.LogRecord) -> None:
        """One record, with its traceback if it has one."""
        try:
            left = memoryview((self.format(record) + "\n").encode("utf-8", "backslashreplace"))
        except Exception:
            self.handleError(record)
            return
        with contextlib.suppress(OSError):  # stderr is closed: nobody is left to be told
            while left and self._writable():
                left = left[os.write(2, left[: self._PIECE_BYTES]) :]

    def _writable(self) -> bool:
        if not hasattr(select, "poll"):
            return True
        poller = select.poll()
        poller.register(2, select.POLLOUT)
        return bool(poller.poll(0))
