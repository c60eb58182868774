"""Tests of denied access, also where the tests run as root: root's file rights are put down for a while."""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

_READ_AND_WRITE_ANYTHING = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_VERSION_3 = 0x20080522


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextlib.contextmanager
def without_root_rights() -> Iterator[None]:
    """In this thread, and in those it starts, the permission bits of files count as for everybody else."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
    elif sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        header, sets = _Header(_VERSION_3, 0), (_Sets * 2)()
        assert libc.capget(ctypes.byref(header), sets) == 0
        before = sets[0].effective
        sets[0].effective = before & ~_READ_AND_WRITE_ANYTHING
        assert libc.capset(ctypes.byref(header), sets) == 0
        try:
            yield
        finally:
            sets[0].effective = before
            assert libc.capset(ctypes.byref(header), sets) == 0
    else:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
