# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of AMD chips on the emulator, and PTX on an interpreter: one test
for each row, element and chip.

../README.md says how to add a row. --memory is coherent, or weak: stores become
visible to other devices (device), or to other programs as well (wg), as late as
the memory model allows.
"""

CDNA3 = "gfx942 gfx950"
BASIC = "i8 i16 i32 i64 f16 bf16 f32 f64"
WEAK = "--memory=device,wg"
ALL = "--memory=coherent,device,wg"
HEAP = "--heap=1048576"

# Programs of ../Execution. Suite; elements; options of gen.py (with --full, the
# test is a long form, not the program); chips; the options of each run.
PROGRAMS = [
    ("atomics", "i32", "", "gfx942",
     ("--ranks=2 --seeds=1 " + WEAK, "--ranks=2 --seeds=1")),
    ("atomics", BASIC, "--full", "gfx942", ("--ranks=3 --seeds=1 " + WEAK,)),
    ("atomics", "i8 i16 i64 f16 bf16 f32 f64", "--full", "gfx950",
     ("--ranks=2 --seeds=1",)),
    ("atomics", "i32", "--full", "gfx950 gfx90a gfx1100 gfx1201",
     ("--ranks=2 --seeds=1 " + HEAP,)),
    ("barriers-few", "", "", CDNA3,
     ("--ranks=3 --seeds=2 " + ALL, "--ranks=4 --seeds=2 " + ALL)),
    ("casts", "", "--full", "gfx950 gfx90a gfx1100 gfx1201",
     ("--ranks=2 --seeds=1 " + HEAP,)),
    # All-gather, all-reduce and reduce-scatter with barriers, packets and
    # buffers; for a group of four, the packets of all ranks are received at once.
    ("collectives-few", "f16", "", "gfx950",
     ("--ranks=4 --heap=2097152 " + ALL,)),
    ("collectives-few", "f16", "--group 0,1,2,3", "gfx942",
     ("--ranks=4 --heap=2097152 " + ALL,)),
    ("collectives-few", "f16", "--full", "gfx942",
     ("--ranks=4 --heap=2097152 " + ALL,)),
    ("collectives-few", "f16", "--group 0,1,2,3 --full", "gfx950",
     ("--ranks=4 --heap=2097152 " + ALL,)),
    # An all-reduce whose rounds overlap, packets from and to a root in several
    # rounds.
    ("collectives-few-rounds", "f16", "--group 0,1,2,3", "gfx942",
     ("--ranks=4 --heap=4194304 " + ALL,)),
    ("elements", "f16", "", "gfx942", ("--ranks=2 --seeds=1 " + HEAP,)),
    ("elements", "f16", "--full", "gfx950 gfx90a gfx1100 gfx1201",
     ("--ranks=2 --seeds=1 " + HEAP,)),
    # All-to-all over wrapping epochs, buffer edges.
    ("packets-short", "bf16", "", CDNA3, (f"--ranks=4 --seeds=2 {HEAP} {ALL}",)),
    ("packets-short", "f64", "", CDNA3,
     (f"--ranks=2 --seeds=1 {HEAP} --memory=coherent,device",)),
    ("signals", "i32", "", "gfx942", (f"--ranks=3 {HEAP} {ALL}",)),
    ("signals", "i32", "--full", "gfx950 gfx90a gfx1100 gfx1201",
     ("--ranks=2 --seeds=1 " + HEAP,)),
    ("values", "f16", "", "gfx942", ("--ranks=2 --seeds=1",)),
    ("values", "f16", "--full", "gfx950 gfx90a gfx1100 gfx1201",
     ("--ranks=2 --seeds=1 " + HEAP,)),
]

# Hand-written kernels whose main is in emulate.py. Test; source; chips; options
# of the run.
KERNELS = [
    *((name, source, chips, options)
      for name, source in (
          ("message-passing-store-signal",
           "examples/01-message-passing/store_signal.mlir"),
          ("message-passing-put-signal",
           "examples/01-message-passing/put_signal.mlir"),
          ("message-passing-atomic-handshake",
           "examples/01-message-passing/atomic_handshake.mlir"),
          ("all-gather", "examples/02-all-gather/all_gather.mlir"))
      # The caches of the other chips are not modelled: other-chips.test.
      for chips, options in ((CDNA3, ALL),)),
    # A matmul that waits for its k-blocks.
    ("matmul-wait", "test/Emulated/Inputs/matmul-wait.mlir", CDNA3,
     "--ranks=2 " + ALL),
]

# Scripts of this folder that generate kernels and check results. Test; script;
# arguments of both; chips; more arguments of `check`.
SCRIPTS = [
    # Matmuls with copy engines.
    ("copied-3-full", "copied.py", "3", "gfx950", "--seeds=1"),
    # Collectives with counts, staged as well.
    ("counted-f16-3-full", "counted.py", "3 f16", "gfx942", ""),
    ("counted-i32-2", "counted.py", "2 i32", "gfx942", ""),
    # Fused matmuls.
    ("fused-2-full", "fused.py", "2", CDNA3, ""),
    ("fused-hbm-buffer-4-full", "fused.py", "4 --only=hbm_buffer", CDNA3,
     "--seeds=1"),
    ("fused-3-full", "fused.py", "3", CDNA3, "--seeds=1"),
    ("fused-4-full", "fused.py", "4", CDNA3, "--seeds=1"),
    # Matmuls with MFMA, WMMA and mma.sync: every type, layout, edge and operand
    # location.
    *(("matmul", "matmul.py", chip, chip, "")
      for chip in ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "sm_80",
                   "sm_90a", "sm_100a")),
    # Random kernels: windows, layouts, reductions, transposes, exchanges; large
    # ones have many elements per thread.
    ("tiles", "tiles.py", "--seed=1 --count=28", "gfx942", ""),
    ("tiles-large", "tiles.py",
     "--seed=7 --count=12 --actions=copy,add --bits 11 14", "gfx942", ""),
    ("tiles", "tiles.py", "--seed=5 --count=28", "gfx950", ""),
    ("tiles", "tiles.py", "--seed=2 --count=14", "gfx90a", ""),
    ("tiles", "tiles.py", "--seed=3 --count=14 --wave=32", "gfx1100", ""),
    ("tiles", "tiles.py", "--seed=4 --count=14 --wave=32", "gfx1201", ""),
    # Every variant of every collective, in place and staged, send and receive.
    ("variants-f16-4-full", "collectives.py", "4 f16", CDNA3, ""),
    ("variants-i8-3", "collectives.py", "3 i8 --only=reduce", "gfx942",
     "--seeds=1"),
    ("variants-i8-3", "collectives.py", "3 i8 --only=reduce", "gfx1201",
     "--seeds=1 --memory=coherent,device"),
    ("variants-i32-3-full", "collectives.py", "3 i32", CDNA3, ""),
    # More than 8 ranks have another place for members in the context.
    ("variants-i32-12", "collectives.py",
     "12 i32 --only='two_shot_pu|one_shot_pa|all_to_all_pu|exchange'", "gfx942",
     "--seeds=1 --memory=coherent,device"),
    ("variants-f16-16-full", "collectives.py", "16 f16", "gfx942 gfx1201",
     "--seeds=1 --memory=coherent,device"),
    ("variants-bf16-4-full", "collectives.py", "4 bf16", CDNA3, ""),
    ("variants-f32-2-full", "collectives.py", "2 f32 --reductions=sum,min", CDNA3,
     ""),
    ("variants-f16-3-full", "collectives.py", "3 f16 --reductions=sum,min", CDNA3,
     ""),
]

ROOT = "%iris_src_root/"
HERE = ROOT + "test/Emulated/"


def test(name, chip, compile_options, *commands, source="%t.mlir"):
    """The test of one chip; `commands` come before and after compiling."""
    before, after = commands
    full = name.endswith("-full")
    name = f"{name.removesuffix('-full')}-{chip}" + full * "-full"
    requires = "numpy" if chip.startswith("sm_") else "emulator"
    emit = "asm" if chip.startswith("sm_") else "obj"
    lines = [*before,
             f"iris-compile {source} {compile_options}--target={chip} "
             f"--emit={emit} -o %t.{chip}", *after]
    return name, (f"# REQUIRES: {requires}{', full' if full else ''}\n"
                  + "".join(f"# RUN: {line}\n" for line in lines))


EXPAND = "iris-compile %t.mlir --emit=mlir --until=expand -o %t.main"


def programs():
    for suite, elements, options, chips, runs in PROGRAMS:
        # The host program is emulated, which knows no collectives.
        collectives = suite.startswith("collectives")
        main = "%t.main" if collectives else "%t.mlir"
        for element in elements.split() or [""]:
            words = [suite, *element.split(),
                     *options.replace("--full", "").split()]
            name = "-".join([suite, *element.split(),
                             *(word[2:] for word in options.split()
                               if word.startswith("--"))])
            for chip in chips.split():
                yield test(
                    name, chip, "",
                    [f"%python {ROOT}test/Execution/Inputs/gen.py "
                     f"{' '.join(words)} > %t.mlir", *[EXPAND] * collectives],
                    [f"%python {HERE}emulate.py {main} %t.{chip} {run}"
                     for run in runs])


def kernels():
    for name, source, chips, options in KERNELS:
        main = source.split("/")[-1].removesuffix(".mlir").replace("-", "_")
        for chip in chips.split():
            yield test(name, chip, "", [],
                       [f"%python {HERE}emulate.py {main} %t.{chip} {options}"],
                       source=ROOT + source)


def scripts():
    for name, script, arguments, chips, options in SCRIPTS:
        # fused.py takes the host's side from the expanded program.
        fused = script == "fused.py"
        # Single targets, on which some of these matmuls are not portable.
        single = "--allow-nonportable " * (script == "matmul.py")
        # argparse takes optional files directly after the other positionals.
        first, dashes, rest = arguments.partition("--")
        for chip in chips.split():
            check = [HERE + script, "check", *first.split(),
                     *["%t.main"] * fused, "%t." + chip, *(dashes + rest).split(),
                     *options.split()]
            yield test(name, chip, single,
                       [f"%python {HERE}{script} generate {arguments} > %t.mlir",
                        *[EXPAND] * fused],
                       ["%python " + " ".join(check)])


def tests():
    yield from programs()
    yield from kernels()
    yield from scripts()
