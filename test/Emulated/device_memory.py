# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of an emulated device, whose ranges are mapped from other processes.

`DeviceMemory` has the interface of the emulator's Memory. A rank's process
and its server have the same memory at the same addresses; peers have it at
other addresses, in the same files. Weak memory: every view has a copy of each
range, at a constant distance, and a second one of what it last agreed on with
memory.
"""
import bisect
import ctypes
import fcntl
import mmap
import os

import numpy as np

MAP_NORESERVE, MAP_FIXED, MAP_FIXED_NOREPLACE = 0x4000, 0x10, 0x100000
FAILED = ctypes.c_void_p(-1).value
PAGE = mmap.PAGESIZE
# Between the copies of a range for different views.
DISTANCE = 1 << 36

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Occupied(Exception):
    """This process already uses the addresses."""


def map_at(address, size, file=-1, replace=False, access=mmap.PROT_READ
           | mmap.PROT_WRITE):
    """Maps a file or, without one, private zeros; any address if it is 0."""
    flags = mmap.MAP_SHARED if file >= 0 else \
        mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    if address:
        flags |= MAP_FIXED if replace else MAP_FIXED_NOREPLACE
    result = libc.mmap(address, size, access, flags, file, 0)
    if result == FAILED:
        error = ctypes.get_errno()
        if error == 17:  # EEXIST
            raise Occupied()
        raise RuntimeError(f"cannot map {size} bytes at {address:#x}: "
                           + os.strerror(error))
    if address and result != address:  # a kernel without NOREPLACE
        libc.munmap(result, size)
        raise Occupied()
    return result


def bytes_at(address, size):
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class Range:
    """Mapped memory. `written`: for each view the first and last byte that it
    may have changed."""

    def __init__(self, start, size, file=-1):
        self.start, self.end, self.file = start, start + size, file
        self.inode = os.fstat(file).st_ino if file >= 0 else 0
        self.real, self.written = bytes_at(start, size), {}
        self.views, self.agreed = {}, {}

    def add_view(self, view):
        size = self.end - self.start
        for number, table in ((2 * view + 1, self.views),
                              (2 * view + 2, self.agreed)):
            address = map_at(self.start - number * DISTANCE, size)
            table[view] = bytes_at(address, size)

    def remove(self, replace):
        size = self.end - self.start
        for number in range(1, 2 * len(self.views) + 1):
            libc.munmap(self.start - number * DISTANCE, size)
        if replace:
            map_at(self.start, size, replace=True, access=0)
        else:
            libc.munmap(self.start, size)
        if self.file >= 0:
            os.close(self.file)

    def lock(self):
        """Excludes the servers of other ranks: record locks belong to a
        process and an inode."""
        fcntl.lockf(self.file, fcntl.LOCK_EX, 1)

    def unlock(self):
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1)


class DeviceMemory:
    def __init__(self):
        self.starts, self.ranges, self.reservations = [], [], []
        self.n_views, self.recent = 0, None

    # Mapping ------------------------------------------------------------------

    def reserve(self, address, size):
        map_at(address, size, access=0)
        self.reservations.append((address, size))

    def release(self, address, size):
        self.reservations.remove((address, size))
        libc.munmap(address, size)

    def is_reserved(self, address):
        return any(start <= address < start + size
                   for start, size in self.reservations)

    def map(self, address, size, file):
        address = map_at(address, size, file,
                         replace=bool(address) and self.is_reserved(address))
        self.add(Range(address, size, file))
        return address

    def add(self, new):
        for view in range(self.n_views):
            new.add_view(view)
        index = bisect.bisect(self.starts, new.start)
        self.starts.insert(index, new.start)
        self.ranges.insert(index, new)

    def unmap(self, address, size):
        index = bisect.bisect_left(self.starts, address)
        if index == len(self.starts) or self.starts[index] != address or \
                self.ranges[index].end != address + size:
            raise RuntimeError(f"{size} bytes at {address:#x} are not mapped")
        del self.starts[index]
        self.ranges.pop(index).remove(replace=self.is_reserved(address))
        self.recent = None

    def find(self, address, size):
        """The range with these bytes, or None."""
        recent = self.recent
        if recent and recent.start <= address and address + size <= recent.end:
            return recent
        index = bisect.bisect(self.starts, address) - 1
        if index < 0 or address + size > self.ranges[index].end:
            return None
        self.recent = self.ranges[index]
        return self.recent

    # What Launch needs --------------------------------------------------------

    def alloc(self, size):
        """Pages for the arguments of a launch."""
        return self.map(0, -(-size // PAGE) * PAGE, -1)

    def free(self, address):
        index = self.starts.index(address)
        self.unmap(address, self.ranges[index].end - address)

    # Views --------------------------------------------------------------------

    def add_view(self):
        for each in self.ranges:
            each.add_view(self.n_views)
        self.n_views += 1
        return self.n_views - 1

    def delta(self, view):
        return 0 if view is None else \
            -(2 * view + 1) * DISTANCE & (1 << 64) - 1

    def note_write(self, view, each, first, last):
        """The view changes bytes of a range."""
        low, high = each.written.get(view, (first, last))
        each.written[view] = min(low, first), max(high, last)

    def changed(self, view):
        """(range, slice, mask) of what differs from the agreed contents."""
        for each in self.ranges:
            if view in each.written:
                low, high = each.written[view]
                piece = slice(low - each.start, high - each.start)
                yield each, piece, \
                    each.views[view][piece] != each.agreed[view][piece]

    def writeback(self, view):
        for each, piece, mask in self.changed(view):
            own = each.views[view][piece]
            each.real[piece][mask] = own[mask]
            each.agreed[view][piece][mask] = own[mask]
            del each.written[view]

    def invalidate(self, view):
        """Changed bytes survive."""
        kept = [(each, piece, mask, each.views[view][piece][mask])
                for each, piece, mask in self.changed(view)]
        self.refresh(view)
        for each, piece, mask, data in kept:
            each.views[view][piece][mask] = data

    def refresh(self, view):
        for each in self.ranges:
            each.agreed[view][:] = each.real
            each.views[view][:] = each.agreed[view]

    def reconcile(self, view, accesses, run):
        """Runs a coherent access to (range, first, last): changed bytes become
        visible first, and the view is updated afterwards."""
        pieces = [(each, slice(first - each.start, last - each.start))
                  for each, first, last in accesses]
        for each, piece in pieces:
            own, agreed = each.views[view][piece], each.agreed[view][piece]
            mask = own != agreed
            each.real[piece][mask] = own[mask]
            agreed[mask] = own[mask]
        run()
        for each, piece in pieces:
            each.agreed[view][piece] = each.real[piece]
            each.views[view][piece] = each.agreed[view][piece]
