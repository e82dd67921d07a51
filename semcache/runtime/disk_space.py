"""Disk space that is taken before it is written to.

Knows files, nothing of what is in them. Invariant: after `allocate`, writing to a mapping of the file cannot fail for
want of space, which would kill the process (SIGBUS).
"""

from __future__ import annotations

import errno
import os

_UNKNOWN = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


def allocate(file: int, size: int) -> None:
    """Make an open file at least `size` bytes long, none of them a hole; what it holds stays. Raises OSError."""
    try:
        os.posix_fallocate(file, 0, size)
    except AttributeError:
        _write(file, size)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        _write(file, size)


def _write(file: int, size: int) -> None:
    """Write what is read, and zeros behind it, where neither kernel nor file system can set space aside."""
    held = os.pread(file, size, 0)
    os.pwrite(file, held.ljust(size, b"\0"), 0)
