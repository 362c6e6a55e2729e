# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of placed litmus tests, in the dialect.

A kernel executes many instances of a test, at other addresses each. Its programs
are the threads of several instances, and do `iterations` instances one after the
other. Data locations and the words of packets are tiles of TILE elements: each
element is an execution of its own, with the thread that has it in the program.
Results are stored after the last access of an instance:

    data     [location][instance][TILE]         flags  [location][instance][32]
    packets  [location][instance][2 * TILE]     results  [result][instance][TILE]
"""
from litmus_text import DATA, FLAG, PACKET

WORDS = "memref<?xi32, #iris.symmetric>"
FLAG_WORDS = 32  # flags are on lines of their own
WAVES = {"gfx942": 64, "gfx950": 64, "gfx90a": 64, "gfx1100": 32, "gfx1201": 32}
SEM = {"rlx": "relaxed", "acq": "acquire", "rel": "release", "ar": "acq_rel"}
ANYTHING = -1000  # flags are never less
BUFFERS = ("data", "flags", "packets", "state", "results")


class Shape:
    """Sizes of a launch. A tile has `tile` elements in `warps` warps."""

    def __init__(self, warps, tile, groups, iterations):
        self.warps, self.tile = warps, tile
        self.groups, self.iterations = groups, iterations

    @property
    def instances(self):
        return self.groups * self.iterations

    def programs(self, placed):
        return self.groups * placed.slots

    def words(self, placed):
        """Of each buffer, in the order of BUFFERS; none is empty."""
        kinds = list(placed.test.locations().values())
        return [max(kinds.count(DATA), 1) * self.instances * self.tile,
                # The last one aligns the threads.
                (kinds.count(FLAG) + 1) * self.instances * FLAG_WORDS,
                max(kinds.count(PACKET), 1) * self.instances * 2 * self.tile,
                32 * self.programs(placed) * placed.ranks,
                max(len(placed.test.results()), 1) * self.instances * self.tile]

    def stride(self, kind):
        return {DATA: self.tile, FLAG: FLAG_WORDS, PACKET: 2 * self.tile}[kind]


class Kernel:
    """Emits one kernel. With `aligned`, the threads of an instance meet before
    its first access, by relaxed accesses to a flag of rank 0, and then pause for
    different times."""

    def __init__(self, placed, shape, aligned=False):
        self.placed, self.shape, self.aligned = placed, shape, aligned
        self.constants, self.lines, self.indent, self.names = {}, [], 2, 0
        self.numbers, counts = {}, {DATA: 0, FLAG: 0, PACKET: 0}
        for location, kind in placed.test.locations().items():
            self.numbers[location] = (kind, counts[kind])
            counts[kind] += 1
        self.flags = counts[FLAG]

    def line(self, text):
        self.lines.append("  " * self.indent + text)

    def value(self, text):
        self.names += 1
        self.line(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def constant(self, number, type_="index"):
        name = f"%{'m' if number < 0 else 'c'}{abs(number)}_{type_}"
        self.constants[name] = f"{name} = arith.constant {number} : {type_}"
        return name

    def offset(self, kind, number, instance):
        """The first word of the location's instance."""
        row = self.value(f"arith.muli {instance}, "
                         f"{self.constant(self.shape.stride(kind))} : index")
        start = self.constant(number * self.shape.instances
                              * self.shape.stride(kind))
        return self.value(f"arith.addi {row}, {start} : index")

    def emit(self):
        placed = self.placed
        slots = self.constant(placed.slots)
        self.line("%rank = iris.rank %ctx : index")
        self.line("%program = gpu.block_id x")
        self.line(f"%group = arith.divui %program, {slots} : index")
        self.line(f"%slot = arith.remui %program, {slots} : index")
        iterations = self.constant(self.shape.iterations)
        self.line(f"%first = arith.muli %group, {iterations} : index")
        results = 0
        for thread, accesses in enumerate(placed.test.accesses()):
            self.thread(thread, accesses, results)
            results += sum(access.has_result for access in accesses)
        buffers = ", ".join(f"%{name}: {WORDS}" for name in BUFFERS)
        constants = "".join(f"    {line}\n" for line in self.constants.values())
        return (f"  gpu.func @{placed.identifier}(%ctx: !iris.ctx, {buffers})\n"
                "      kernel attributes {iris.num_warps = "
                f"{self.shape.warps} : i32}} {{\n{constants}"
                + "\n".join(self.lines) + "\n    gpu.return\n  }\n")

    def thread(self, thread, accesses, results):
        placed = self.placed
        rank = self.constant(placed.rank_of[thread])
        slot = self.constant(placed.slot_of(thread))
        here = self.value(f"arith.cmpi eq, %rank, {rank} : index")
        mine = self.value(f"arith.cmpi eq, %slot, {slot} : index")
        both = self.value(f"arith.andi {here}, {mine} : i1")
        self.line(f"scf.if {both} {{")
        self.indent += 1
        zero, one = self.constant(0), self.constant(1)
        self.line(f"scf.for %i{thread} = {zero} to "
                  f"{self.constant(self.shape.iterations)} step {one} {{")
        self.indent += 1
        self.line(f"%n{thread} = arith.addi %first, %i{thread} : index")
        instance = f"%n{thread}"
        offsets = {access.location: self.offset(*self.numbers[access.location],
                                                instance)
                   for access in accesses if access.location}
        if self.aligned:
            self.align(thread, instance)
        found = [self.access(access, offsets) for access in accesses]
        for value in filter(None, found):
            self.keep(value, results, instance)
            results += 1
        for _ in range(2):
            self.indent -= 1
            self.line("}")

    def align(self, thread, instance):
        at = self.offset(FLAG, self.flags, instance)
        one = self.constant(1, "i32")
        count = self.constant(len(self.placed.test.threads), "i32")
        home = self.constant(0)
        self.line(f"iris.signal add %ctx, {one}, %flags[{at}] to {home} "
                  f"sem(relaxed) : i32, {WORDS}")
        self.value(f"iris.wait %ctx, %flags[{at}] ge {count} from {home} "
                   f"sem(relaxed) : i32, {WORDS}")
        # 0 to 6 more reads, different ones in each thread and instance.
        factor = self.value(
            f"arith.muli {instance}, {self.constant(2 * thread + 3)} : index")
        reads = self.value(f"arith.remui {factor}, {self.constant(7)} : index")
        self.line(f"scf.for %p{thread} = {self.constant(0)} to {reads} step "
                  f"{self.constant(1)} {{")
        self.indent += 1
        self.value(f"iris.wait %ctx, %flags[{at}] ge {count} from {home} "
                   f"sem(relaxed) : i32, {WORDS}")
        self.indent -= 1
        self.line("}")

    def keep(self, value, result, instance):
        tile = f"tensor<{self.shape.tile}xi32>"
        name, type_ = value
        if type_ == "i32":
            name = self.value(f"tensor.splat {name} : {tile}")
        row = self.value(f"arith.muli {instance}, "
                         f"{self.constant(self.shape.tile)} : index")
        start = self.constant(result * self.shape.instances * self.shape.tile)
        at = self.value(f"arith.addi {row}, {start} : index")
        self.line(f"tile.store {name}, %results[{at}] : {tile}, {WORDS}")

    def access(self, access, offsets):
        """Returns the result and its type, if there is one."""
        placed, tile = self.placed, f"tensor<{self.shape.tile}xi32>"
        what, scope = access.what, f"scope({placed.scope})"
        if what == "bar":
            self.line(f"iris.barrier %ctx, %state : {WORDS}")
            return None
        if what == "F":
            self.line(f"iris.fence {SEM[access.sem]} {scope}")
            return None
        at, home = offsets[access.location], placed.home[access.location]
        remote = home != placed.rank_of[access.thread]
        order = f"sem({SEM[access.sem]}) {scope} : i32, {WORDS}"

        def rank(word):
            return f" {word} {self.constant(home)}" if remote else ""

        def number(position=0):
            return self.constant(access.numbers[position], "i32")
        if what in "WP":
            filled = self.value(f"tensor.splat {number()} : {tile}")
        if what == "W":
            self.line(f"iris.store %ctx, {filled}, %data[{at}]{rank('to')} : "
                      f"{tile}, {WORDS}" if remote else
                      f"tile.store {filled}, %data[{at}] : {tile}, {WORDS}")
        elif what == "P":
            self.line(f"iris.packet_store %ctx, {filled}, %packets[{at}]"
                      f"{rank('to')} flag({number()}) : {tile}, {WORDS}")
        elif what in "RV":
            buffer = "%data" if what == "R" else "%packets"
            return self.value(
                f"iris.load %ctx, {buffer}[{at}]{rank('from')} : {WORDS} -> {tile}"
                if remote else
                f"tile.load {buffer}[{at}] : {WORDS} -> {tile}"), tile
        elif what == "Q":
            return self.value(f"iris.packet_load %ctx, %packets[{at}] "
                              f"flag({number()}) : {WORDS} -> {tile}"), tile
        elif what in "SA":
            kind = "set" if what == "S" else "add"
            self.line(f"iris.signal {kind} %ctx, {number()}, %flags[{at}]"
                      f"{rank('to')} {order}")
        elif what in "LB":
            least = (self.constant(ANYTHING, "i32") if what == "L" else number())
            return self.value(f"iris.wait %ctx, %flags[{at}] ge {least}"
                              f"{rank('from')} {order}"), "i32"
        elif what in "XI":
            kind = "xchg" if what == "X" else "add"
            return self.value(f"iris.atomic_rmw {kind} %ctx, {number()}, "
                              f"%flags[{at}]{rank('to')} {order}"), "i32"
        elif what == "C":
            return self.value(f"iris.atomic_cas %ctx, {number()}, {number(1)}, "
                              f"%flags[{at}]{rank('to')} {order}"), "i32"
        else:
            raise ValueError(f"no access '{what}'")
        return None


def module(kernels):
    return "gpu.module @kernels {\n" + "".join(kernels) + "}\n"
