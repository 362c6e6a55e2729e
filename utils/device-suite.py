#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the execution tests on a machine with GPUs that has no compiler.

  device-suite.py pack  --target=sm_90a --build=build/release -o suite
  device-suite.py run   suite --device=cuda

`pack` reads the RUN lines of test/Execution and of the examples, generates
their programs and compiles each into a package for the target. `run` needs
only Python, the packages, iris-run and libiris_rt.so; it runs every package
with the numbers of ranks in its test, up to the number of devices, and exits
with status 1 if one of them failed.

Packages are compiled with the options of the test's iris-compile.

Programs that a test expects to fail must fail here as well: with status 1, in
bounded time, and with the output in its CHECK lines, or on a GPU in its ON-GPU
lines if there are any. Where a test waits forever, one of its ranks is killed
during the wait.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import queue
import re
import runpy
import shlex
import signal
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = ("test/Execution", "test/Examples")


def tests_of(folder):
    """(path, name, text) of the lit tests of a folder and of its tables."""
    for file in sorted(os.listdir(folder)):
        path = os.path.join(folder, file)
        if file.endswith(".gen.py"):
            for name, text in runpy.run_path(path)["tests"]():
                yield path, name, text
        elif file.endswith((".mlir", ".test")):
            with open(path, encoding="utf-8") as test:
                yield path, os.path.splitext(file)[0], test.read()


def run_lines(text):
    """The commands of a lit test, continued lines joined."""
    lines, open_line = [], ""
    for line in text.splitlines():
        match = re.match(r"\s*(?://|#)\s*RUN:\s*(.*)", line)
        if not match:
            continue
        open_line += match.group(1).rstrip()
        if open_line.endswith("\\"):
            open_line = open_line[:-1]
            continue
        lines.append(open_line)
        open_line = ""
    return lines


def checks_of(text, prefix):
    """FileCheck's patterns of a prefix, as regular expressions, in order."""
    lines = re.findall(rf"(?://|#)\s*{prefix}(?:-SAME)?:\s*(.*?)\s*$", text,
                       re.MULTILINE)
    def regex(line):
        parts = re.split(r"\{\{(.*?)\}\}", line)
        return "".join(part if i % 2 else re.escape(part)
                       for i, part in enumerate(parts))
    return [regex(line) for line in lines]


def failing_run(match, text):
    """The entry of a run that the test expects to fail; None if it is for the
    host alone, as the checks of --debug are."""
    options = match["options"].split()
    if "--debug" in options:
        return None
    says = checks_of(text, "CHECK")
    return {"ranks": [int(match["ranks"])], "options": options, "says": says,
            "says_on_gpu": checks_of(text, "ON-GPU") or says}


def compile_command(words):
    """(source, output, options that every target takes) of an iris-compile."""
    at = words.index("-o")
    options = [word for i, word in enumerate(words[1:], 1)
               if word.startswith("--") and not word.startswith("--target=")
               and i not in (at, at + 1)]
    source = next(w for w in words[1:] if w.endswith(".mlir"))
    return source, words[at + 1], options


def package_name(out, name, options):
    """A name that tells the programs of all tests apart."""
    if out.startswith("%t"):
        stem = name + out[2:].removesuffix(".iris")
    else:
        stem = os.path.basename(out).removesuffix(".mlir")
    return re.sub(r"[^\w.]+", "-", "-".join([stem, *options]))


def programs_of(path, name, text):
    """The programs of a test: name, generator or source, options of
    iris-compile, numbers of ranks, and runs that are expected to fail."""
    programs = {}

    def add(out, **origin):
        programs[out] = {"options": [], **origin, "ranks": [], "failing": []}

    here = os.path.dirname(path)
    for line in run_lines(text):
        line = (line.replace("%S", here).replace("%s", path)
                .replace("%iris_src_root", SOURCE)
                .replace("%python", sys.executable))
        failing = re.fullmatch(
            r"not iris-run -n (?P<ranks>\d+)(?P<options>(?: --\S+)*) "
            r"(?P<program>\S+) 2>&1 \| FileCheck " + re.escape(path), line)
        if failing and failing["program"] in programs:
            entry = failing_run(failing, text)
            programs[failing["program"]]["failing"] += [entry] if entry else []
        if "|" in line or "not " in line:
            continue
        words = shlex.split(line)
        if ">" in words:
            out = words[words.index(">") + 1]
            add(out, generator=words[:words.index(">")])
        elif words[0] == "iris-compile" and "-o" in words:
            source, out, options = compile_command(words)
            # Machine code alone, and programs of the host alone.
            if {"--emit=obj", "--allow-nonportable"} & set(options):
                continue
            known = programs.get(source, {})
            if "generator" in known:
                add(out, generator=known["generator"], options=options)
            else:
                add(out, source=source, options=options)
        elif words[0] == "iris-run" and words[1] == "-n" and len(words) == 4:
            program = words[3]
            if program.endswith(".mlir"):
                if program not in programs:
                    add(program, source=program)
            if program in programs:
                programs[program]["ranks"].append(int(words[2]))
    for out, program in programs.items():
        if program["ranks"] or program["failing"]:
            program["name"] = package_name(out, name, program["options"])
            yield program


def pack_one(program, args):
    source = program.get("source")
    if not source:
        source = os.path.join(args.output, program["name"] + ".mlir")
        with open(source, "w", encoding="utf-8") as file:
            # The generators ask iris-compile which collectives there are.
            path = os.path.join(os.path.abspath(args.build), "bin")
            subprocess.run(program["generator"], stdout=file, check=True,
                           env={**os.environ, "PATH": path + os.pathsep
                                + os.environ["PATH"]})
    package = program["name"] + ".iris"
    start = time.monotonic()
    command = [os.path.join(args.build, "bin", "iris-compile"), source,
               *program["options"], "--target=" + args.target, "-o",
               os.path.join(args.output, package)]
    # The device that a package runs on decides how addresses translate.
    if not any(word.startswith("--translation") for word in args.option):
        command.append("--translation=both")
    done = subprocess.run(command + args.option, capture_output=True, text=True)
    if not program.get("source"):
        os.remove(source)
    return package, done, time.monotonic() - start


def pack(args):
    os.makedirs(args.output, exist_ok=True)
    programs = {}
    for suite in SUITES:
        for path, name, text in tests_of(os.path.join(SOURCE, suite)):
            if name.endswith("-full") and not args.full:
                continue
            for program in programs_of(path, name, text):
                known = programs.setdefault(program["name"], program)
                known["ranks"] = sorted({*known["ranks"], *program["ranks"]})
    chosen = [p for p in programs.values() if re.search(args.filter, p["name"])]
    manifest, failures = [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tasks = {pool.submit(pack_one, p, args): p for p in chosen}
        for task in concurrent.futures.as_completed(tasks):
            package, done, seconds = task.result()
            good = done.returncode == 0
            failures += not good
            print(f"{'packed' if good else 'FAILED'} {package} {seconds:.1f} s",
                  flush=True)
            if good:
                program = tasks[task]
                runs = [{"ranks": program["ranks"]}, *program["failing"]]
                manifest += [{"package": package, **entry} for entry in runs
                             if entry["ranks"]]
            else:
                print(done.stderr, flush=True)
    manifest.sort(key=lambda entry: entry["package"])
    with open(os.path.join(args.output, "suite.json"), "w",
              encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    print(f"{len(chosen)} packages, {len(manifest)} entries in {args.output}, "
          f"{failures} failed")
    return 1 if failures else 0


def kill_a_rank(launcher):
    """Kills the last process that iris-run has started."""
    found = subprocess.run(["pgrep", "-P", str(launcher)], capture_output=True,
                           text=True).stdout.split()
    if found:
        os.kill(int(found[-1]), signal.SIGKILL)


def run_killed(command, environment, limit):
    """Runs a program that waits forever, and kills a rank during the wait."""
    command = [word for word in command if not word.startswith("--timeout")]
    running = subprocess.Popen(
        [*command[:-1], "--timeout=600", command[-1]], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    try:
        time.sleep(limit / 4)
        kill_a_rank(running.pid)
        text, _ = running.communicate(timeout=limit)
    finally:
        running.kill()
    return running.returncode, text


def judge(code, text, says):
    """The problem with the end of a program that was expected to fail; or
    None."""
    if code != 1:
        return f"status {code}; expected 1"
    for part in says:
        found = re.search(part, text)
        if not found:
            return f"expected {part!r}"
        text = text[found.end():]
    return None


def run_one(args, entry, ranks, devices):
    """Runs on some of the devices; returns the outcome."""
    command = [args.iris_run, "-n", str(ranks), "--device=" + args.device,
               *entry.get("options", []), *args.option,
               os.path.join(args.suite, entry["package"])]
    environment = dict(os.environ)
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        ours = [each for each in os.environ.get(name, "").split(",") if each]
        environment[name] = ",".join(ours[device] if ours else str(device)
                                     for device in devices)
    start = time.monotonic()
    try:
        if "killed" in entry:
            code, text = run_killed(command, environment, args.limit)
        else:
            done = subprocess.run(command, capture_output=True, text=True,
                                  timeout=args.limit, env=environment)
            code, text = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as expired:
        code, text = 124, f"not done after {args.limit} s\n{expired.stderr}"
    seconds = time.monotonic() - start
    if "says" not in entry:
        return code == 0, f"status {code}", text, seconds
    wrong = judge(code, text, entry["says" if args.device == "host"
                                    else "says_on_gpu"])
    return wrong is None, wrong, text, seconds


def with_killed(manifest):
    """The entries, and one more for each that waits forever, and so has a time
    limit: a killed rank."""
    killed = [r"rank \d+: its process was killed by signal 9"]
    for entry in manifest:
        yield entry
        if any(option.startswith("--timeout")
               for option in entry.get("options", [])):
            yield {**entry, "killed": True, "says": killed,
                   "says_on_gpu": killed}


def run(args):
    with open(os.path.join(args.suite, "suite.json"), encoding="utf-8") as file:
        manifest = list(with_killed(json.load(file)))
    # Runs with equal numbers of ranks, concurrently: a driver also starts
    # faster when it sees fewer devices.
    todo = collections.defaultdict(list)
    for entry in manifest:
        for ranks in sorted(set(entry["ranks"])):
            if ranks <= min(args.devices, args.max_ranks) and (
                    not args.ranks or ranks in args.ranks) and re.search(
                        args.filter, entry["package"]):
                todo[ranks].append(entry)
    failures, left, total = [], [], 0
    deadline = time.monotonic() + args.budget
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        ours = [each for each in os.environ.get(name, "").split(",") if each]
        if ours and len(ours) < args.devices:
            sys.exit(f"--devices={args.devices}, but {name} has {len(ours)}")
    for ranks, entries in sorted(todo.items()):
        lanes = queue.Queue()
        for lane in range(args.devices // ranks):
            lanes.put(range(lane * ranks, (lane + 1) * ranks))

        def work(entry, ranks=ranks, lanes=lanes):
            devices = lanes.get()
            try:
                if time.monotonic() > deadline or (
                        args.max_failures
                        and len(failures) >= args.max_failures):
                    return None
                return run_one(args, entry, ranks, devices)
            finally:
                lanes.put(devices)

        with concurrent.futures.ThreadPoolExecutor(lanes.qsize()) as pool:
            tasks = {pool.submit(work, entry): entry for entry in entries}
            for task in concurrent.futures.as_completed(tasks):
                entry = tasks[task]
                name = f"{entry['package']} -n {ranks}"
                name += ", a rank killed" if "killed" in entry else ""
                if task.result() is None:
                    left.append(name)
                    continue
                good, wrong, text, seconds = task.result()
                total += 1
                if good:
                    print(f"ok   {name} {seconds:.1f} s", flush=True)
                    continue
                failures.append(name)
                print(f"FAIL {name}: {wrong}, {seconds:.1f} s\n"
                      f"{text[-args.tail:]}", flush=True)
    print(f"{total} runs, {len(failures)} failed, {len(left)} not started")
    for name in failures:
        print("  failed: " + name)
    return 1 if failures or left or not total else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    p = modes.add_parser("pack", help="compile the programs into packages")
    p.add_argument("--target", required=True, help="for example sm_90a")
    p.add_argument("--build", required=True, help="the build folder")
    p.add_argument("-o", "--output", required=True, help="the suite's folder")
    p.add_argument("--full", action="store_true", help="the long forms as well")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    p.add_argument("--filter", default="", help="regular expression on names")
    p.add_argument("option", nargs="*", help="options of iris-compile, after --")
    p = modes.add_parser("run", help="run the packages")
    p.add_argument("suite", help="the suite's folder")
    p.add_argument("--device", required=True, help="cuda, hip or host")
    p.add_argument("--iris-run", default="iris-run", help="path of iris-run")
    p.add_argument("--devices", type=int, default=8, help="number of devices")
    p.add_argument("--max-ranks", type=int, default=8,
                   help="leave out the tests of more ranks")
    p.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")],
                   help="of the tests' numbers of ranks only these")
    p.add_argument("--filter", default="", help="regular expression on names")
    p.add_argument("--limit", type=float, default=120, help="seconds per run")
    p.add_argument("--budget", type=float, default=1e9, help="seconds in all")
    p.add_argument("--max-failures", type=int, default=0)
    p.add_argument("--tail", type=int, default=1500,
                   help="characters shown of a failed run's output")
    p.add_argument("option", nargs="*", help="options of iris-run, after --")
    args = parser.parse_args()
    return pack(args) if args.mode == "pack" else run(args)


if __name__ == "__main__":
    sys.exit(main())
