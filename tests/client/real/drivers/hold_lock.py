"""Holds the folder's write lock until stdin ends, as another server of ours would while it writes.

`python hold_lock.py FOLDER`; says "held" once it has it. A driver starts it to make a call wait that it cancels.
"""

import fcntl
import os
import sys

fd = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
