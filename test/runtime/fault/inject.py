#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Injects faults into jobs and checks how these end.

Ranks, launchers and compilers are killed, stopped and asked to end at random
times; jobs get too few descriptors or threads, too little memory, files that may
not grow, foreign things in their directories, wrong tokens, damaged packages, output
that cannot be written. Every job has to end in bounded time, blame the rank that was
hit and no other, crash nowhere, and leave nothing: no process, no temporary
file, no socket, no shared memory.

  inject.py --bin=build/bin --faults=300 --seed=1
"""
import argparse
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

from jobs import CRASH, LIMITS, PREFIX, STARTS, Job, Tools, listing

RANKS = 3


class Fault:
    """One job and its faults; `complaints` lists violations."""

    def __init__(self, tools, rng, start=None):
        self.tools, self.rng, self.complaints = tools, rng, []
        self.start = start
        self.late = False

    def job(self, ranks=RANKS, **more):
        return Job(self.tools, ranks, **more)

    def expect(self, holds, what):
        if not holds:
            self.complaints.append(what)

    def says(self, job, *words):
        for word in words:
            self.expect(word in job.text, f"does not say '{word}'")

    def end(self, job, may_leave=()):
        """Checks that apply to every job."""
        job.finish()
        self.expect(job.ended, f"did not end in {job.seconds:.0f} s")
        self.expect(not job.orphans, f"left processes {job.orphans}")
        left = [n for n in job.left if not n.startswith(tuple(may_leave))]
        self.expect(not left, f"left {left}")
        self.expect("\x1b" not in job.text, "prints terminal escapes")
        crash = CRASH.search(job.text)
        self.expect(not crash, f"crashed: {crash and crash.group(0)}")

    def failed(self, job, victim, but=None):
        """Checks for a job with an affected rank: every message blames that
        rank."""
        blamed = job.blamed(but)
        others = job.statuses[:victim] + job.statuses[victim + 1:]
        if not any(job.statuses) or others and not any(others):
            # The others need nothing of it any more.
            self.late = True
            self.expect(not blamed, f"succeeds, but blames {blamed}")
            return
        self.expect(blamed <= {victim}, f"blames {sorted(blamed)} for {victim}")
        self.expect(f"rank {victim}" in job.text, f"does not name rank {victim}")

    def moment(self):
        time.sleep(self.rng.uniform(0, 1.1) * self.tools.seconds[self.start])

    def hit_rank(self, job, number):
        """Signals a random rank at a random time; the rank and its pid."""
        victim = self.rng.randrange(job.ranks)
        self.moment()
        pid = job.rank_pid(victim)
        if pid is None or not job.signal(pid, number):
            return None, None
        return victim, pid


def hit(number, starts):
    """A rank gets a signal that ends it."""
    def fault(f):
        f.start = f.start or f.rng.choice(starts)
        job = f.job()
        STARTS[f.start](job)
        victim, _ = f.hit_rank(job, number)
        job.wait()
        f.end(job)
        if victim is None:
            f.late = not any(job.statuses)
            f.expect(f.late, f"fails without a fault: {job.text[-300:]}")
        else:
            f.failed(job, victim)
        return job
    return fault


def stop_launched(f):
    """A rank is stopped; its launcher ends it."""
    f.start = f.rng.choice(["run package", "bench, cold", "bench, warm"])
    job = f.job()
    STARTS[f.start](job)
    victim, _ = f.hit_rank(job, signal.SIGSTOP)
    job.wait()
    f.end(job)
    if victim is not None:
        f.failed(job, victim)
        if any(job.statuses):
            f.says(job, "stayed stopped (signal 19)")
    return job


def stop_alone(f):
    """A rank is stopped without a launcher, and continues after the job has
    ended."""
    f.start = f.rng.choice(["shell, cold", "shell, warm"])
    job = f.job()
    STARTS[f.start](job)
    victim, pid = f.hit_rank(job, signal.SIGSTOP)
    job.wait(but=(pid,))
    others = [s for p in job.processes if p.pid != pid for s in [p.poll()]]
    if pid is not None:
        job.signal(pid, signal.SIGCONT)
    job.wait()
    f.end(job)
    if victim is not None and any(others):
        # Its own clock continued while it was stopped: for this rank, its peers
        # are late.
        f.failed(job, victim, but=victim)
    return job


def hit_launcher(number):
    def fault(f):
        f.start = f.rng.choice(["run package", "run source", "bench, cold", "bench, warm"])
        job = f.job()
        STARTS[f.start](job)
        f.moment()
        job.signal(job.processes[0].pid, number)
        job.wait()
        killed = number == signal.SIGKILL
        # All ranks are killed at once: the next job removes the rendezvous'
        # leftovers.
        f.end(job, may_leave=("run/", "tmp/iris-compile-") if killed else ())
        f.late = job.statuses[0] == 0
        f.expect(job.statuses[0] in (0, -number, 128 + number),
                 f"ends with {job.statuses[0]}")
        if killed:
            follow = f.job()
            follow.env["IRIS_RENDEZVOUS_DIR"] = job.path("run")
            follow.run(f.tools.package)
            follow.wait()
            follow.finish()
            f.expect(follow.statuses == [0], f"the next job fails: {follow.text[-300:]}")
            f.expect(not listing(job.path("run")), "the next job leaves the rendezvous")
            follow.remove()
        return job
    return fault


def hit_compiler(f):
    """iris-compile is killed; a later one removes its leftovers."""
    f.start = f.rng.choice(["run source", "bench, cold", "shell, cold"])
    number = f.rng.choice([signal.SIGKILL, signal.SIGTERM])
    job = f.job()
    STARTS[f.start](job)
    pid, until = None, time.monotonic() + f.rng.uniform(0, 1) * f.tools.seconds[f.start]
    while job.running() and pid is None:
        pid = job.compiler_pid() if time.monotonic() >= until else None
        time.sleep(0.001)
    if pid is None or not job.signal(pid, number):
        pid = None
    job.wait()
    f.end(job, may_leave=("tmp/iris-compile-",) if number == signal.SIGKILL else ())
    if pid is None or not any(job.statuses):
        f.late = True
        return job
    f.says(job, f"was killed by signal {int(number)}")
    for name in os.listdir(job.path("tmp")):
        os.utime(job.path("tmp", name), (0, 0))
    later = f.job()
    later.env["TMPDIR"] = job.path("tmp")
    later.spawn([f.tools.compile, f.tools.source, "--target=host", "-o", os.devnull])
    later.wait()
    later.finish()
    f.expect(not os.listdir(job.path("tmp")), "old files are not removed")
    later.remove()
    return job


def limited(kind, values, words):
    def fault(f):
        f.start = f.rng.choice(["run package", "run source", "bench, warm", "shell, warm"])
        value = f.rng.randrange(*values)
        f.start += f", {value}"
        env = {} if f.rng.random() < 0.5 else {"IRIS_HEAP_SIZE": "4G"}
        job = f.job(limits={kind: value}, env=env)
        STARTS[f.start.rsplit(",", 1)[0]](job)
        job.wait()
        f.end(job)
        f.late = not any(job.statuses)
        f.expect(f.late or any(w in job.text for w in words),
                 f"does not give the reason: {job.text[-400:]}")
        return job
    return fault


def job_hash(name):
    value = 0xcbf29ce484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001b3) % (1 << 64)
    return f"{value:016x}"


def stale(f):
    """A leftover of a dead job, or a foreign file, has the job's name."""
    port = str(f.rng.randrange(20000, 30000))
    what = f.start = f.rng.choice(["socket", "lock", "file", "link", "fifo", "folder"])
    job = f.job()
    base = job.path("run", job_hash(f"torchrun:node:{port}::/#0"))
    precious = job.path("precious")
    with open(precious, "w") as file:
        file.write("precious")
    if what == "socket":
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind(base + ".sock")
        s.close()
    elif what == "lock":
        open(base + ".lock", "w").close()
    elif what == "file":
        shutil.copy(precious, base + ".sock")
    elif what == "link":
        os.symlink(precious, base + ".sock")
    elif what == "fifo":
        os.mkfifo(base + ".sock")
    else:
        os.mkdir(base + ".sock")
    job.shell(port=port)
    job.wait()
    f.end(job)
    with open(precious) as file:
        f.expect(file.read() == "precious", "follows a link")
    if what == "folder":
        f.expect(all(job.statuses), "succeeds")
        f.says(job, job.path("run"))
    else:
        f.expect(not any(job.statuses), f"fails: {job.text[-300:]}")
    return job


def wrong_token(f):
    victim = f.rng.randrange(RANKS)
    text = f.start = f.rng.choice(["bad", "zz", "\x1b[31m", "1" * 17])
    f.start = repr(text)
    job = f.job(env={"IRIS_TOKEN": "600d"})
    job.shell(per_rank={victim: {"IRIS_TOKEN": text}})
    job.wait()
    f.end(job)
    f.expect(all(job.statuses), "succeeds")
    if text == "bad":
        hub, refused = "".join(job.texts[0]), "".join(job.texts[victim or 1])
        for said in (hub, refused):
            f.expect("its token does not match" in said, f"one side is silent: {said}")
    else:
        f.says(job, "IRIS_TOKEN has")
        f.failed(job, victim)
    return job


def missing_rank(f):
    victim = f.rng.randrange(RANKS)
    job = f.job()
    job.shell(missing=(victim,))
    job.wait()
    f.end(job)
    f.expect(all(job.statuses), "succeeds")
    f.failed(job, victim)
    f.expect(job.seconds < 2 * LIMITS["join"] + 15, f"takes {job.seconds:.0f} s")
    return job


def directories(f):
    """Directories that belong to another user, or cannot be created."""
    case = f.start = f.rng.choice(["file", "open", "link", "relative", "proc", "cache",
                                   "no tmp"])
    job = f.job()
    place = job.path("place")
    if case == "file":
        open(place, "w").close()
    elif case in ("open", "cache"):
        os.mkdir(place)
        os.chmod(place, 0o777)
    elif case == "link":
        os.symlink(job.path("run"), place)
    elif case == "relative":
        place = "run"
    elif case == "proc":
        place = "/proc/nowhere"
    if case == "cache":
        job.env["IRIS_CACHE_DIR"] = place
        job.spawn([f.tools.bench, "-n", "3", *f.tools.bench_args])
    elif case == "no tmp":
        job.env["TMPDIR"] = place
        job.run(f.tools.source)
    else:
        job.env["IRIS_RENDEZVOUS_DIR"] = place
        f.rng.choice([lambda: job.run(f.tools.package), job.shell])()
    job.wait()
    f.end(job)
    f.expect(all(job.statuses), "succeeds")
    f.says(job, place)
    return job


def contested(f):
    """Another user makes and removes the name of the first directory."""
    f.start = f.rng.choice(["run package", "bench, warm", "shell, warm"])
    job = f.job()
    os.mkdir(job.path("xdg"), 0o700)
    name = job.path("xdg", "iris")
    job.env["XDG_RUNTIME_DIR"] = job.path("xdg")
    del job.env["IRIS_RENDEZVOUS_DIR"]
    is_done = threading.Event()

    def contest():
        while not is_done.wait(f.rng.uniform(0, 0.002)):
            try:
                os.mkdir(name)
                os.chmod(name, 0o777)
                if os.geteuid() == 0:
                    os.chown(name, 65534, 65534)
                time.sleep(f.rng.uniform(0, 0.002))
                os.rmdir(name)
            except FileExistsError:
                continue  # it is the job's
    user = threading.Thread(target=contest)
    user.start()
    STARTS[f.start](job)
    job.wait()
    is_done.set()
    user.join()
    f.end(job)
    f.expect(not any(job.statuses), f"fails: {job.text[-400:]}")
    f.expect(not listing(job.path("xdg")), "leaves files")
    return job


def damaged(f):
    """A truncated package, or one with a flipped bit."""
    with open(f.tools.package, "rb") as file:
        data = bytearray(file.read())
    if f.rng.random() < 0.5:
        f.start = "cut"
        data = data[:f.rng.randrange(len(data))]
    else:
        f.start = "changed"
        data[f.rng.randrange(len(data))] ^= 1 << f.rng.randrange(8)
    job = f.job()
    program = job.path("damaged.iris")
    with open(program, "wb") as file:
        file.write(data)
    job.run(program)
    job.wait()
    f.end(job)
    f.expect(all(job.statuses), "succeeds")
    f.says(job, program)
    return job


def full_output(f):
    """Standard output is closed or full."""
    tool, command = f.rng.choice([
        ("iris-run", lambda: [f.tools.run, "-n", "2", f.tools.package]),
        ("iris-run", lambda: [f.tools.run, "--help"]),
        ("iris-bench", lambda: [f.tools.bench, "-n", "2", *f.tools.bench_args]),
        ("iris-bench", lambda: [f.tools.bench, "--requests=-"]),
    ])
    f.start = tool
    job = f.job()
    with open("/dev/full", "w") as full:
        job.spawn(command(), stdout=full)
    job.wait()
    f.end(job)
    f.expect(all(job.statuses), "exits with 0")
    f.says(job, f"{tool}: cannot write to standard output")
    return job


ANY = list(STARTS)
FILES = ("open files", "Error 24", "cannot open shared object", "error while loading",
         "Too many")
MEMORY = ("IRIS_HEAP_SIZE", "Cannot allocate memory", "no memory", "cannot start",
          "temporarily unavailable", "failed to map segment", "error while loading")
THREADS = ("cannot start a thread", "cannot start rank", "temporarily unavailable")
SIZES = ("File too large", "File size limit")
# kind: (weight of 300, how)
FAULTS = {
    "kill a rank": (75, hit(signal.SIGKILL, ANY)),
    "terminate a rank": (25, hit(signal.SIGTERM, ANY)),
    "stop a rank": (25, stop_launched),
    "stop a rank, no launcher": (20, stop_alone),
    "kill the launcher": (20, hit_launcher(signal.SIGKILL)),
    "terminate the launcher": (15, hit_launcher(signal.SIGTERM)),
    "interrupt the launcher": (10, hit_launcher(signal.SIGINT)),
    "kill the compiler": (15, hit_compiler),
    "few descriptors": (20, limited(resource.RLIMIT_NOFILE, (3, 20), FILES)),
    "little memory": (15, limited(resource.RLIMIT_AS, (1 << 26, 1 << 30), MEMORY)),
    "few threads": (15, limited(resource.RLIMIT_NPROC, (1, 30), THREADS)),
    "short files": (10, limited(resource.RLIMIT_FSIZE, (0, 1 << 17), SIZES)),
    "stale names": (12, stale),
    "wrong token": (8, wrong_token),
    "missing rank": (6, missing_rank),
    "wrong directories": (10, directories),
    "contested directory": (10, contested),
    "damaged package": (8, damaged),
    "full output": (6, full_output),
}


def shares(total):
    """The number of faults of each kind: by weight, at least one."""
    weight = sum(w for w, _ in FAULTS.values())
    counts = {kind: max(1, round(w * total / weight)) for kind, (w, _) in FAULTS.items()}
    kinds = sorted(FAULTS, key=lambda kind: -FAULTS[kind][0])
    at = 0
    while sum(counts.values()) < total:
        counts[kinds[at % len(kinds)]] += 1
        at += 1
    return counts


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--bin", required=True, help="folder of the programs")
    p.add_argument("--faults", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", help="part of a fault's name")
    p.add_argument("-v", action="store_true", help="a line for each fault")
    args = p.parse_args()
    tools = Tools(args.bin, RANKS)
    shared = set(os.listdir("/dev/shm"))
    results = {kind: [] for kind in FAULTS}
    try:
        tools.prepare()
        plan = [kind for kind, n in shares(args.faults).items() for _ in range(n)
                if not args.only or args.only in kind]
        random.Random(args.seed).shuffle(plan)
        for number, kind in enumerate(plan):
            fault = Fault(tools, random.Random(f"{args.seed} {number}"))
            job = FAULTS[kind][1](fault)
            new = set(os.listdir("/dev/shm")) - shared
            fault.expect(not [n for n in new if "iris" in n], f"left /dev/shm/{new}")
            results[kind].append((job.seconds, fault))
            if args.v or fault.complaints:
                print(f"{number}: {kind} ({fault.start}): {job.statuses} after "
                      f"{job.seconds:.1f} s{', late' if fault.late else ''}: "
                      f"{'; '.join(fault.complaints) or 'as it should'}", flush=True)
            if fault.complaints:
                print("  | " + job.text[-2500:].replace("\n", "\n  | "), flush=True)
            job.remove()
    finally:
        tools.remove()
    print(f"limits in s: {LIMITS}")
    print(f"{'fault':26} {'count':>5} {'too late':>8} {'worst s':>8} {'failures':>8}")
    left = [n for n in os.listdir(tempfile.gettempdir()) if n.startswith(PREFIX)]
    if left:
        print(f"left in {tempfile.gettempdir()}: {left}")
    bad = len(left)
    for kind, all_of in results.items():
        wrong = sum(bool(f.complaints) for _, f in all_of)
        bad += wrong
        if all_of:
            print(f"{kind:26} {len(all_of):5} {sum(f.late for _, f in all_of):8} "
                  f"{max(s for s, _ in all_of):8.1f} {wrong:8}")
    total = [s for all_of in results.values() for s, _ in all_of]
    print(f"{'all':26} {len(total):5} {'':8} {max(total):8.1f} {bad:8}  (seed {args.seed})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
