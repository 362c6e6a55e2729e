#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stand-in for an emulator, to test the runtime's side of the protocol
(runtime/src/backends/emulated/README.md).

It executes no code: it knows what the kernels `store_ids` and
`spin_until_set` of the conformance suite do, and finds them in every image
that contains their names. The first addresses that it is asked for are
occupied. The name of the chip selects a fault (FAULTS).
"""
import itertools
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time

REQUEST, REPLY = struct.Struct("<IIQQ3I3III"), struct.Struct("<IIIIQ")
MAGIC, VERSION, MAX_MESSAGE = 0x4D455249, 1, 64 << 10
OK, OCCUPIED, FAILED = range(3)
(HELLO, RESERVE, RELEASE, MAP, UNMAP, LOAD, UNLOAD, FIND, LAUNCH,
 PING) = range(1, 11)
MOST_PROGRAMS = 1024
# A text that is longer when it is escaped.
CONTROLS = "first line\x01" + "\x1b" * (60 << 10)


def dies(server, number):
    sys.exit("no memory for the waves\n")


def hangs(server, number):
    time.sleep(1e6)


def sends_garbage(server, number):
    server.connection.send(b"nonsense")


def sends_text(server, number):
    server.connection.send(b"a text of more bytes than a reply has")


def answers_another(server, number):
    server.reply(number + 1000)


def fails_silently(server, number):
    server.reply(number, FAILED)


def closes(server, number):
    server.connection.shutdown(socket.SHUT_RDWR)
    time.sleep(1e6)


def answers_pings_only(server, number):
    pass


def stops(server, number):
    os.kill(os.getpid(), signal.SIGSTOP)


def fails_with_controls(server, number):
    server.reply(number, FAILED, text=CONTROLS)


def traps(server, number):
    server.reply(number, FAILED, text="s_trap 2 in program 1")


# What a launch does instead.
FAULTS = {fault.__name__: fault for fault in (
    dies, hangs, sends_garbage, sends_text, answers_another, fails_silently,
    closes, traps, answers_pings_only, stops, fails_with_controls)}


class Server:
    def __init__(self, connection):
        self.connection, self.fault = connection, None
        self.numbers, self.occupied = itertools.count(1), {RESERVE, MAP}
        self.modules, self.kernels, self.mappings = {}, {}, {}
        self.reservations, self.launches = [], []

    def reply(self, number, result=OK, value=0, text=""):
        self.connection.send(REPLY.pack(MAGIC, number, result, 0, value)
                             + text.encode())

    def serve(self):
        while True:
            timeout = 0.001 if self.launches else None
            if select.select([self.connection], [], [], timeout)[0]:
                data, files, _, _ = socket.recv_fds(self.connection,
                                                    MAX_MESSAGE, 1)
                if not data:
                    return
                self.handle(data, files)
            self.launches = [launch for launch in self.launches
                             if next(launch, None) is not None]

    def handle(self, data, files):
        (kind, number, address, size, *shape, _,
         name_size) = REQUEST.unpack_from(data)
        body = data[REQUEST.size:]
        name, block = body[:name_size].decode(), body[name_size:]
        value = 0
        is_free = not any(start <= address < start + length
                          for start, length in self.reservations)
        if kind == HELLO:
            if address != VERSION or name == "unknown":
                return self.reply(number, FAILED,
                                  text=f"no chip '{name}' here")
            if name == "refuses_with_controls":
                return self.reply(number, FAILED, text=CONTROLS)
            if name == "mute":
                time.sleep(1e6)
            self.chip = name
            self.fault, value = FAULTS.get(name), MOST_PROGRAMS
        elif (kind == RESERVE and self.chip == "dies_in_reserve") or \
                (kind == MAP and not is_free and self.chip == "dies_in_map"):
            dies(self, number)
        elif kind == RESERVE and self.chip == "never_reserves":
            return None
        elif kind == MAP and not is_free and self.chip == "occupied_inside":
            os.close(files[0])
            return self.reply(number, OCCUPIED)
        elif kind in (RESERVE, MAP) and is_free and self.chip == "crowded" \
                and self.is_crowded(address):
            for file in files:
                os.close(file)
            return self.reply(number, OCCUPIED)
        elif kind in self.occupied and is_free:
            self.occupied.remove(kind)
            for file in files:
                os.close(file)
            return self.reply(number, OCCUPIED)
        elif kind == RESERVE:
            self.reservations.append((address, size))
        elif kind == RELEASE:
            self.reservations.remove((address, size))
        elif kind == MAP:
            self.mappings[address] = mmap.mmap(files[0], size)
            os.close(files[0])
        elif kind == UNMAP:
            assert len(self.mappings.pop(address)) == size
        elif kind == LOAD:
            image = os.pread(files[0], size, 0)
            os.close(files[0])
            if not any(name.encode() in image for name in KERNELS):
                return self.reply(number, FAILED, text="no image")
            value = next(self.numbers)
            self.modules[value] = image
        elif kind == UNLOAD:
            del self.modules[address]
        elif kind == FIND:
            if name not in KERNELS or \
                    name.encode() not in self.modules[address]:
                return self.reply(number, FAILED, text=f"no kernel '{name}'")
            value = next(self.numbers)
            self.kernels[value] = KERNELS[name]
        elif kind == LAUNCH:
            if self.fault:
                return self.fault(self, number)
            return self.launches.append(self.run(
                number, self.kernels[address](self, shape[0], block)))
        return self.reply(number, value=value)

    def is_crowded(self, address):
        """This process uses 32 GiB around the first address."""
        self.first = getattr(self, "first", address)
        return abs(address - self.first) < 32 << 30

    def run(self, number, kernel):
        yield from kernel
        self.reply(number)

    def word(self, address):
        """(mapping, slice) of 32 bits."""
        for start, mapping in self.mappings.items():
            if start <= address and address + 4 <= start + len(mapping):
                return mapping, slice(address - start, address - start + 4)
        raise RuntimeError(f"nothing is mapped at {address:#x}")

    def load(self, address):
        mapping, piece = self.word(address)
        return struct.unpack("<I", mapping[piece])[0]

    def store(self, address, value):
        mapping, piece = self.word(address)
        mapping[piece] = struct.pack("<I", value & 0xFFFFFFFF)


def store_ids(server, programs, block):
    to, value = struct.unpack_from("<QI", block)
    for program in range(programs):
        server.store(to + 4 * program, value + program)
        yield program


def spin_until_set(server, _, block):
    flag, _, to = struct.unpack_from("<QQQ", block)
    while server.load(flag) == 0:
        yield 0
    server.store(to, server.load(flag))


KERNELS = {"store_ids": store_ids, "spin_until_set": spin_until_set}

if __name__ == "__main__":
    Server(socket.socket(fileno=os.dup(0))).serve()
