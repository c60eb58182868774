"""Stands between a client and its server and writes down every line: `python tee.py LOG COMMAND [ARGUMENT…]`.

In LOG, a line from the client begins with `>`, one from the server with `<`; the last one is `=` and the exit code.
`{pid}` in the name of LOG is this process: some clients start a server twice.
A line is written down before it is passed on, so a request always stands before its answer.
"""

import os
import subprocess
import sys
from threading import Lock, Thread
from typing import BinaryIO


def main(log_path: str, *command: str) -> int:
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = Lock()
    with open(log_path.replace("{pid}", str(os.getpid())), "ab", buffering=0) as log:

        def pass_on(mark: bytes, source: BinaryIO, sink: BinaryIO) -> None:
            for line in source:
                with lock:
                    log.write(mark + line)
                sink.write(line)
                sink.flush()
            sink.close()

        Thread(target=pass_on, args=(b">", sys.stdin.buffer, server.stdin), daemon=True).start()
        pass_on(b"<", server.stdout, sys.stdout.buffer)
        code = server.wait()
        with lock:
            log.write(b"=%d\n" % code)
    return code


if __name__ == "__main__":
    # Not sys.exit: the thread may still wait for a line that the client will never send.
    os._exit(main(*sys.argv[1:]))
