#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures Iris' collectives against RCCL on the AMD GPUs of this machine.

    benchmarks/amd/run.py                        about an hour
    benchmarks/amd/run.py --quick                some minutes
    benchmarks/amd/run.py --dry-run              prints the commands only

Repeats the all-gather sweep of ROCm/iris' pull requests: f16, 2 MiB to 512
MiB per rank (the matrices 2048x4096, 8192x8192 and 16384x16384 are 16, 128
and 512 MiB), 4 to 128 programs, RCCL with its default number of channels and
with as many channels as Iris has programs; and the same for all-reduce. Sizes
are bytes of one chunk: the input of each rank in an all-gather.

  1. prints the GPUs, ROCm, PyTorch and RCCL; exits with status 1 without an
     AMD GPU
  2. builds iris-bench and iris-compile, or uses those of --build; with
     --package only iris-bench is needed
  3. measures Iris with the selector's config, then with each number of
     programs, and RCCL with its default, then with each number of channels;
     all outputs are compared. Calls are in a graph; if RCCL cannot be captured,
     everything is measured again without graphs
  4. writes the report

A failed step does not end the run. --out then contains:

  system.json           the machine
  iris.jsonl            Iris' default; iris-programs.jsonl: each number of
                        programs
  rccl.jsonl            RCCL's default; rccl-channels.jsonl: each number of
                        channels
  tables.md             bandwidth over programs for the three matrices, GiB/s
                        (2^30 bytes, as in ROCm/iris)
  programs.csv          all measurements, GB/s (1e9 bytes)
  plots/                over the size, and over the programs (SVG)
  log/                  the output of each step

For a machine without LLVM 22, compile the kernels elsewhere (no GPU needed
there), for the same number of ranks and operations:

    benchmarks/amd/run.py -n 8 --compile-ahead=kernels.iris
    benchmarks/amd/run.py -n 8 --package=kernels.iris

exit status: 0 if everything was measured and correct, 1 if there is no AMD
GPU or a step failed, 2 for a wrong command line.
"""
import argparse
import datetime
import glob
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import measurements  # noqa: E402, found by the line before

MIB, GIB = 1 << 20, 1 << 30
MATRICES = {16 * MIB: "2048x4096", 128 * MIB: "8192x8192",
            512 * MIB: "16384x16384"}
SIZES = [size * MIB for size in (2, 4, 8, 16, 32, 64, 128, 256, 512)]
PROGRAMS = [4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128]
QUICK_SIZES = [2 * MIB, 16 * MIB, 128 * MIB]
QUICK_PROGRAMS = [8, 32, 64, 128]
OPS = ["all_gather", "all_reduce", "reduce_scatter", "all_to_all"]
TARGETS = ["gfx942", "gfx950"]
RCCL_BUDGET = 1200  # seconds for one run of the peers

KFD = pathlib.Path("/sys/class/kfd/kfd/topology/nodes")


def die(message):
    print(f"amd/run.py: {message}", file=sys.stderr)
    sys.exit(1)


# ===----------------------------------------------------------------------===#
# The machine
# ===----------------------------------------------------------------------===#


def read_text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def target_of(version):
    """The target for KFD's gfx_target_version: 90402 is gfx942, 90010 gfx90a."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def find_gpus(nodes):
    """[{target, compute_units}] of AMD's kernel driver; needs no ROCm."""
    gpus = []
    for node in sorted(nodes.glob("*"), key=lambda path: (
            len(path.name), path.name)):
        pairs = (line.split() for line in
                 read_text(node / "properties").splitlines())
        numbers = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
        if numbers.get("simd_count", 0) > 0:
            gpus.append({
                "target": target_of(numbers.get("gfx_target_version", 0)),
                "compute_units": numbers["simd_count"]
                // max(numbers.get("simd_per_cu", 0), 1)})
    return gpus


def ask_pytorch(python):
    """Versions and devices that PyTorch sees; {"error": ...} without it."""
    code = """
import json, torch
found = {"torch": torch.__version__, "hip": torch.version.hip,
         "cuda": torch.version.cuda, "gpus": torch.cuda.device_count()}
if found["gpus"]:
    found["device"] = torch.cuda.get_device_name(0)
    found["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
print(json.dumps(found))
"""
    try:
        result = subprocess.run([python, "-c", code], capture_output=True,
                                text=True, timeout=180, check=True)
        return json.loads(result.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError,
            IndexError) as error:
        detail = (getattr(error, "stderr", None) or str(error)).strip()
        return {"error": detail.splitlines()[-1] if detail else "no output"}


def rocm_version():
    home = os.environ.get("ROCM_PATH", "/opt/rocm")
    return read_text(pathlib.Path(home) / ".info/version") or "unknown"


def describe_commit():
    try:
        return subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
            capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def free_memory():
    """Bytes of main memory that are free, or 0."""
    for line in read_text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def find_system(options):
    return {
        "gpus": find_gpus(options.kfd),
        "rocm": rocm_version(),
        "pytorch": {"error": "not asked"} if options.skip_rccl
        else ask_pytorch(options.python),
        "commit": describe_commit(),
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "memory_free_bytes": free_memory(),
        "numa_balancing": read_text("/proc/sys/kernel/numa_balancing"),
        "environment": {name: value for name, value in os.environ.items()
                        if name.startswith(("NCCL_", "RCCL_", "HSA_", "HIP_",
                                            "ROCR_", "IRIS_"))
                        and name != "IRIS_TOKEN"},
    }


def print_system(system):
    gpus = system["gpus"]
    kinds = sorted({(gpu["target"], gpu["compute_units"]) for gpu in gpus})
    for target, units in kinds:
        count = sum(gpu["target"] == target and gpu["compute_units"] == units
                    for gpu in gpus)
        print(f"GPUs:    {count} x {target}, {units} compute units each")
    if not gpus:
        print("GPUs:    no AMD GPU")
    print(f"ROCm:    {system['rocm']}")
    pytorch = system["pytorch"]
    if "error" in pytorch:
        print(f"PyTorch: {pytorch['error']}")
    else:
        print(f"PyTorch: {pytorch['torch']}, for "
              + (f"HIP {pytorch['hip']}" if pytorch["hip"] else "something "
                 "other than ROCm") + f", sees {pytorch['gpus']} GPUs"
              + (f" ({pytorch['device']}), RCCL {pytorch['nccl']}"
                 if pytorch["gpus"] else ""))
    print(f"Iris:    {system['commit'] or 'unknown commit'}")
    if system["numa_balancing"] not in ("", "0"):
        print("note:    NUMA balancing is on, which AMD advises against: "
              "/proc/sys/kernel/numa_balancing")
    sys.stdout.flush()


def check_system(system, options):
    """Exits if nothing can be measured; returns the number of ranks."""
    gpus = system["gpus"]
    if not gpus:
        die("no AMD GPU found: the kernel driver (amdgpu, KFD) shows none in "
            f"{options.kfd}. --dry-run and --rehearse need none")
    if options.kfd == KFD and not os.access("/dev/kfd", os.R_OK | os.W_OK):
        die("/dev/kfd cannot be opened: be in the groups 'render' and 'video', "
            "or give the container --device=/dev/kfd --device=/dev/dri")
    count = len(gpus)
    pytorch = system["pytorch"]
    if not options.skip_rccl:
        if "error" in pytorch:
            die(f"no PyTorch in {options.python}: {pytorch['error']}; name "
                "another with --python, or leave RCCL out with --skip-rccl")
        if not pytorch["hip"]:
            die(f"the PyTorch of {options.python} is not for ROCm; name "
                "another with --python, or leave RCCL out with --skip-rccl")
        count = min(count, pytorch["gpus"])
    ranks = options.n or min(count, 8)
    if ranks < 2 or ranks > count:
        die(f"{ranks} ranks, but {count} GPUs can be used; at least 2 are "
            "needed")
    return ranks


# ===----------------------------------------------------------------------===#
# Steps
# ===----------------------------------------------------------------------===#


class Steps:
    """Runs commands in sequence, or prints them; records failures."""

    def __init__(self, out, dry):
        self.out, self.dry, self.failed = out, dry, []

    def run(self, name, command, environment=None):
        """Whether it exited with status 0. Output goes to the terminal and to
        log/NAME."""
        words = [f"{key}={value}" for key, value in (environment or {}).items()]
        words += map(str, command)
        print(f"\n==> {name}\n    " + " ".join(map(shlex.quote, words)),
              flush=True)
        if self.dry:
            return True
        path = self.out / "log" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(path, "wb") as log:
                child = subprocess.Popen(
                    list(map(str, command)), stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    env=dict(os.environ, **(environment or {})), cwd=ROOT)
                for line in child.stdout:
                    log.write(line)
                    log.flush()
                    sys.stdout.buffer.write(line)
                    sys.stdout.flush()
                status = child.wait()
        except OSError as error:
            status = str(error)
        if status != 0:
            self.failed.append(f"{name}: status {status}, see {path}")
            print(f"FAILED: {self.failed[-1]}", flush=True)
        return status == 0


def size_list(sizes):
    return ",".join(f"{size // 1024}K" if size % MIB else f"{size // MIB}M"
                    for size in sizes)


class Plan:
    """The commands for one machine."""

    def __init__(self, options, ranks, sizes):
        self.options, self.ranks, self.sizes = options, ranks, sizes
        self.mode = options.mode
        self.build = pathlib.Path(options.build).resolve()
        self.bench = self.build / "bin/iris-bench"
        self.compiler = self.build / "bin/iris-compile"
        self.device = "host" if options.rehearse else "hip"

    def iris(self, ops, programs=None):
        command = [self.bench, "-n", self.ranks, f"--device={self.device}",
                   "--ops=" + ",".join(ops), "--dtypes=f16",
                   f"--sizes={size_list(self.sizes)}",
                   f"--modes={self.mode}"]
        if programs:
            command += ["--programs=" + ",".join(map(str, programs))]
        if self.options.rehearse:
            command += ["--samples=3", "--warmups=1", "--calls=2"]
        return command

    def rccl(self, sizes, path, channels=0):
        command = [self.options.python, HERE.parent / "peers/collectives.py",
                   "-n", self.ranks, "--peers=nccl", "--dtype=f16",
                   "--ops=" + ",".join(self.options.ops),
                   f"--sizes={size_list(sizes)}", f"--mode={self.mode}",
                   f"--budget={RCCL_BUDGET}", f"--json={path}"]
        if channels:
            command += [f"--channels={channels}"]
        return command

    def notes(self, commit):
        return [f"--commit={commit}", f"--machine={self.options.machine}"]


def build(steps, plan):
    """Builds missing tools. False if that failed."""
    wanted = [plan.bench] + ([] if plan.options.package else [plan.compiler])
    missing = [path for path in wanted if not path.exists()]
    if not missing:
        return True
    if plan.build != ROOT / "build":
        die("there is no " + " and no ".join(map(str, missing)))
    if plan.options.package:  # no compiler is needed, so neither MLIR nor LLVM
        return steps.run("configure", [
            "cmake", "-S", ROOT, "-B", plan.build, "-DCMAKE_BUILD_TYPE=Release",
            "-DIRIS_BUILD_COMPILER=OFF", "-DIRIS_BUILD_TESTS=OFF"]) and \
            steps.run("build", ["cmake", "--build", plan.build, "--parallel",
                                "--target", "iris-bench"])
    return steps.run("build", [
        "bash", "-c", "source utils/setup.sh && iris_setup && "
        "iris_build release " + " ".join(path.name for path in wanted)])


def compile_ahead(steps, plan):
    """One package; kernels do not depend on the number of programs."""
    package = pathlib.Path(plan.options.compile_ahead).resolve()
    source = package.with_suffix(".mlir")
    targets = "host" if plan.options.rehearse else ",".join(TARGETS)
    if steps.run("requests", plan.iris(plan.options.ops) + [
            f"--requests={source}"]):
        # The machine decides which address translation a driver needs.
        steps.run("compile", [plan.compiler, source, f"--target={targets}",
                              "--translation=both", "-o", package])


def log_name(plan, name):
    return name if plan.mode == "graph" else f"{name}-{plan.mode}"


def measure_ours(steps, plan, commit):
    more = plan.notes(commit)
    if plan.options.package:
        more.append(f"--package={pathlib.Path(plan.options.package).resolve()}")
    for op in plan.options.ops:
        steps.run(log_name(plan, f"iris-{op}"), plan.iris([op]) + more + [
            f"--json={steps.out / 'iris.jsonl'}"])
    for op in plan.options.ops:
        steps.run(log_name(plan, f"iris-{op}-programs"),
                  plan.iris([op], plan.options.programs) + more
                  + [f"--json={steps.out / 'iris-programs.jsonl'}"])


def has_lines(path):
    return bool(read_text(path))


def measure_rccl(steps, plan, commit):
    """False if RCCL has no result for some operation in a graph: then
    everything is also measured without graphs, for a fair comparison."""
    # Some versions of RCCL exit without it. The user's settings take
    # precedence.
    environment = {name: value for name, value in {
        "HSA_NO_SCRATCH_RECLAIM": "1"}.items() if name not in os.environ}
    path, more = steps.out / "rccl.jsonl", plan.notes(commit)
    steps.run(log_name(plan, "rccl"), plan.rccl(plan.sizes, path) + more,
              environment)
    if not steps.dry and plan.mode == "graph":
        done = {entry["op"] for entry in measurements.read([str(path)])} \
            if has_lines(path) else set()
        if not done.issuperset(plan.options.ops):
            return False
    sizes = [size for size in plan.sizes if size in MATRICES] or plan.sizes
    for number in plan.options.programs:
        steps.run(log_name(plan, f"rccl-{number}-channels"), plan.rccl(
            sizes, steps.out / "rccl-channels.jsonl", number) + more,
            environment)
    return True


# ===----------------------------------------------------------------------===#
# Reports
# ===----------------------------------------------------------------------===#


def gib_per_s(entry):
    return f"{entry['busbw_GBs'] * 1e9 / GIB:.1f}" if entry else ""


def table_row(label, mine, theirs):
    ratio = f"{mine['busbw_GBs'] / theirs['busbw_GBs']:.2f}" \
        if mine and theirs else ""
    return f"| {label} | {gib_per_s(mine)} | {gib_per_s(theirs)} | {ratio} |"


def make_table(entries):
    """Lines of Markdown for one operation, size and mode."""
    ours, rccl, chosen, default = {}, {}, None, None
    for entry in entries:
        if entry["peer"] == "iris":
            ours[entry["programs"]] = entry
            chosen = entry if entry.get("chosen") else chosen
        elif entry.get("programs"):
            rccl[entry["programs"]] = entry
        else:
            default = entry
    lines = ["| programs | Iris | RCCL | Iris / RCCL |",
             "|---:|---:|---:|---:|"]
    lines += [table_row(number, ours.get(number), rccl.get(number))
              for number in sorted({*ours, *rccl})]
    if chosen or default:
        label = "default" + (f" (Iris: {chosen['programs']})" if chosen
                                else "")
        lines.append(table_row(label, chosen, default))
    return lines


def make_tables(entries):
    """Markdown: bandwidth over programs, for each operation and matrix."""
    first = entries[0]
    text = [f"# {first['ranks']} x {first['device']}, f16",
            "", "Bus bandwidth in GiB/s (2^30 bytes): for all_gather, (ranks - "
            "1) x rows x columns x 2 bytes by the time of one call. RCCL has "
            "as many channels as programs."]
    cases = {}
    for entry in entries:
        cases.setdefault((entry["op"], entry["bytes"],
                          entry.get("mode", "graph")), []).append(entry)
    sizes = {entry["bytes"] for entry in entries}
    shown = sizes & set(MATRICES) or sizes
    for (op, size, mode), some in sorted(cases.items()):
        if size in shown:
            name = f"{MATRICES[size]}, " if size in MATRICES else ""
            text += ["", f"## {op}, {name}{measurements.name_size(size)}"
                     + ("" if mode == "graph" else ", calls one by one"), "",
                     *make_table(some)]
    return "\n".join(text) + "\n"


def report(steps):
    names = ["iris.jsonl", "iris-programs.jsonl", "rccl.jsonl",
             "rccl-channels.jsonl"]
    paths = {name: steps.out / name for name in names
             if steps.dry or has_lines(steps.out / name)}
    if not paths:
        die("nothing was measured; see " + str(steps.out / "log"))
    if not steps.dry:
        text = make_tables(measurements.read(list(map(str, paths.values()))))
        (steps.out / "tables.md").write_text(text, encoding="utf-8")
        print("\n" + text, end="")
        (steps.out / "plots").mkdir(exist_ok=True)
    try:
        import matplotlib  # noqa: F401, only checks availability
        plots = True
    except ImportError:
        plots = False
        print("no Matplotlib: CSV and tables, but no plots")
    sweep = [sys.executable, HERE.parent / "programs-sweep.py", *paths.values(),
             "-o", steps.out / "programs"]
    if not plots:
        steps.run("report-programs", sweep + ["--format=none"])
        return
    steps.run("report-programs", sweep)
    chosen = [path for name, path in paths.items() if name in
              ("iris.jsonl", "rccl.jsonl")]
    if "iris.jsonl" in paths:
        steps.run("report-sizes", [
            sys.executable, HERE.parent / "plot-collectives.py", *chosen,
            "-o", steps.out / "plots/sizes"])
    for path in glob.glob(f"{steps.out}/programs-*.svg"):
        os.replace(path, steps.out / "plots" / os.path.basename(path))


# ===----------------------------------------------------------------------===#
# Command line
# ===----------------------------------------------------------------------===#


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=0, metavar="N",
                        help="ranks (default: all GPUs, at most 8)")
    parser.add_argument("--ops", default="all_gather,all_reduce",
                        metavar="LIST", help="all, or some of "
                        + ", ".join(OPS) + "; default all_gather,all_reduce")
    parser.add_argument("--programs", metavar="LIST",
                        help="default " + ",".join(map(str, PROGRAMS)))
    parser.add_argument("--quick", action="store_true",
                        help="three sizes up to 128 MiB, four numbers of "
                        "programs")
    parser.add_argument("--mode", default="graph", choices=["graph", "eager"],
                        help="how calls are made; default graph, and eager "
                        "after it if RCCL gives nothing in a graph")
    parser.add_argument("--out", metavar="FOLDER", help="default "
                        "build/amd-DATE-TIME")
    parser.add_argument("--build", default=str(ROOT / "build"),
                        metavar="FOLDER",
                        help="with bin/iris-bench and bin/iris-compile; "
                        "default build, where they are built if need be")
    parser.add_argument("--package", metavar="FILE",
                        help="kernels that were compiled ahead")
    parser.add_argument("--compile-ahead", metavar="FILE",
                        help="only writes such a package, for "
                        + " and ".join(TARGETS))
    parser.add_argument("--python", default=sys.executable, metavar="FILE",
                        help="interpreter that has PyTorch; default this one")
    parser.add_argument("--skip-rccl", action="store_true",
                        help="ours only; needs no PyTorch")
    parser.add_argument("--machine", default="", metavar="TEXT",
                        help="noted in each line")
    parser.add_argument("--dry-run", action="store_true",
                        help="prints the commands; as for 8 x gfx942 where "
                        "there is no AMD GPU")
    parser.add_argument("--rehearse", action="store_true",
                        help="on CPU ranks, small sizes, without RCCL: shows "
                        "that the steps work; the times mean nothing")
    parser.add_argument("--kfd", type=pathlib.Path, default=KFD,
                        help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.ops = OPS if options.ops == "all" else options.ops.split(",")
    for op in options.ops:
        if op not in OPS:
            parser.error(f"--ops: '{op}'; expected some of {', '.join(OPS)}")
    try:
        options.programs = [int(word) for word in options.programs.split(",")] \
            if options.programs else \
            QUICK_PROGRAMS if options.quick else PROGRAMS
    except ValueError:
        parser.error("--programs; expected numbers, separated by commas")
    if not all(1 <= number <= 128 for number in options.programs):
        parser.error("--programs; expected numbers from 1 to 128")
    if options.n and not 2 <= options.n <= 8:
        parser.error("-n; expected 2 to 8")
    if options.compile_ahead and options.package:
        parser.error("--compile-ahead and --package exclude each other")
    if options.package and not pathlib.Path(options.package).is_file():
        parser.error(f"--package: there is no file {options.package}")
    return options


def choose_sizes(options, ranks, memory):
    """The sizes that fit: every rank compares its whole output in main
    memory."""
    if options.rehearse:
        return [16 * 1024, 64 * 1024]
    sizes = QUICK_SIZES if options.quick else SIZES
    many = any(op in measurements.MANY_CHUNKS for op in options.ops)

    def need(size):
        return 2.5 * ranks * size * (ranks if many else 1)
    fitting = [size for size in sizes if not memory or need(size) <= memory]
    if len(fitting) < len(sizes):
        print(f"note:    {memory / GIB:.0f} GiB of main memory are free, but "
              f"{need(sizes[-1]) / GIB:.0f} GiB are needed to check all sizes: "
              f"left out {size_list(sizes[len(fitting):])}")
    if not fitting:
        die("too little main memory for any size")
    return fitting


def main():
    options = parse_options()
    out = pathlib.Path(options.out or ROOT / "build" / (
        "amd-" + datetime.datetime.now().strftime("%Y%m%d-%H%M%S"))).resolve()
    steps = Steps(out, options.dry_run)

    if options.compile_ahead:
        ranks = options.n or (2 if options.rehearse else 8)
        plan = Plan(options, ranks, choose_sizes(options, ranks, 0))
        if build(steps, plan):
            compile_ahead(steps, plan)
        return finish(steps)

    if options.rehearse:
        options.skip_rccl = True
    system = find_system(options)
    print_system(system)
    memory = system["memory_free_bytes"]
    if options.rehearse:
        ranks = options.n or 2
        print("rehearsal on CPU ranks: the times mean nothing")
    elif options.dry_run and not system["gpus"]:
        ranks, memory = options.n or 8, 0
        print(f"dry run: as for {ranks} x gfx942")
    else:
        ranks = check_system(system, options)
    sizes = choose_sizes(options, ranks, memory)
    plan = Plan(options, ranks, sizes)
    print(f"Plan:    {ranks} ranks; {', '.join(options.ops)}; "
          f"{size_list(sizes)}; programs "
          f"{','.join(map(str, options.programs))}\nOutput:  {out}")
    if not options.dry_run:
        out.mkdir(parents=True, exist_ok=True)
        (out / "system.json").write_text(json.dumps(system, indent=1) + "\n",
                                         encoding="utf-8")
    if not build(steps, plan):
        return finish(steps)
    measure_ours(steps, plan, system["commit"])
    if not options.skip_rccl and \
            not measure_rccl(steps, plan, system["commit"]):
        for failure in steps.failed:
            print("failed: " + failure)
        print("RCCL gave nothing in a graph for some operation: all again with "
              "calls one by one", flush=True)
        plan.mode, steps.failed = "eager", []
        measure_ours(steps, plan, system["commit"])
        measure_rccl(steps, plan, system["commit"])
    report(steps)
    return finish(steps)


def finish(steps):
    for failure in steps.failed:
        print("failed: " + failure)
    if not steps.dry:
        print(f"\nresults and logs: {steps.out}")
    return 1 if steps.failed else 0


if __name__ == "__main__":
    sys.exit(main())
