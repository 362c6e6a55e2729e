# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs for inject.py: how they start, their processes, their output and their
leftovers."""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# The start of the names of this process' temporary folders.
PREFIX = f"iris-faults-{os.getpid()}-"

# Seconds; enough for jobs without faults. adapt() makes them small, so that what
# waits for a rank that never comes ends soon, but not smaller than this machine
# needs at this hour.
LIMITS = {"wait": 60.0, "join": 60.0, "collective": 120.0, "bound": 600.0}


def adapt(seconds):
    """`seconds`: the duration of the slowest job without a fault."""
    LIMITS["wait"] = max(3.0, 1.5 * seconds)
    LIMITS["join"] = LIMITS["wait"] + 1
    LIMITS["collective"] = LIMITS["wait"] + 2
    # The longest chain of limits, a launcher's grace, and the work itself.
    LIMITS["bound"] = 30 + 4 * LIMITS["collective"]


CRASH = re.compile(r"signal (4|6|7|8|11) \(|terminate called|Sanitizer|Assertion|"
                   r"LLVM ERROR|PLEASE submit a bug")
BLAME = re.compile(r"rank (\d+) (?:failed|did not|owed|\(process \d+\) went away)|"
                   r"rank (\d+), which passes on|"
                   r"ranks? ([\d, and]+) did not|"
                   r"rank (\d+): its process (?:was killed|stayed stopped)")


def listing(folder):
    """Every file below a folder; directories do not count."""
    return sorted(os.path.join(path, name)[len(folder) + 1:]
                  for path, _, names in os.walk(folder) for name in names)


def folders(folder):
    return sorted(name for name in os.listdir(folder)
                  if os.path.isdir(os.path.join(folder, name)))


def threads_of(user):
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it has ended
    return count


def remove_tree(root):
    """Removes a folder, also one with folders that are not readable."""
    subprocess.run(["chmod", "-R", "u+rwx", root], check=False)
    shutil.rmtree(root)


class Job:
    """One run of a program, in separate folders."""
    count = 0

    def __init__(self, tools, ranks, env=None, limits=None):
        Job.count += 1
        self.tools, self.ranks = tools, ranks
        self.tag = f"{os.getpid()}-{Job.count}"
        # In the folder of all jobs, which goes even if a job is left.
        self.root = tempfile.mkdtemp(dir=tools.scratch)
        for name in ("tmp", "run", "cache"):
            os.mkdir(os.path.join(self.root, name), 0o700)
        self.limits, self.user = dict(limits or {}), None
        if resource.RLIMIT_NPROC in self.limits:
            self.limit_threads()
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("IRIS_", "XDG_"))}
        self.env.update(IRIS_FAULT_TAG=self.tag, TMPDIR=self.path("tmp"),
                        IRIS_CACHE_DIR=self.path("cache"),
                        IRIS_RENDEZVOUS_DIR=self.path("run"),
                        IRIS_WAIT_LIMIT=str(LIMITS["wait"]),
                        IRIS_JOIN_LIMIT=str(LIMITS["join"]),
                        IRIS_COLLECTIVE_LIMIT=str(LIMITS["collective"]),
                        IRIS_HEAP_SIZE="128M", IRIS_COMPILE=tools.compile)
        self.env.update(env or {})
        self.processes, self.readers, self.texts = [], [], []
        self.began = time.monotonic()

    def limit_threads(self):
        """The limit counts all of a user's threads, and none of root's: root runs
        the job as an unused user."""
        if os.geteuid() == 0:
            self.user = os.getpid() * 1000 + Job.count
        else:
            self.limits[resource.RLIMIT_NPROC] += threads_of(os.geteuid())

    def own(self):
        """Gives the job's folders to its user."""
        for path, names, files in os.walk(self.root):
            for name in [".", *names, *files]:
                os.lchown(os.path.join(path, name), self.user, self.user)

    def path(self, *names):
        return os.path.join(self.root, *names)

    def spawn(self, command, env=None, stdout=None):
        """Starts a process and captures its output."""
        def limit():
            for kind, value in self.limits.items():
                resource.setrlimit(kind, (value, value))
            if self.user is not None:
                os.setgroups([])
                os.setgid(self.user)
                os.setuid(self.user)
        if self.user is not None:
            self.own()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout or subprocess.PIPE,
            stderr=subprocess.STDOUT if stdout is None else subprocess.PIPE,
            env=dict(self.env, **(env or {})), preexec_fn=limit)
        stream = process.stdout or process.stderr
        text, index = [], len(self.processes)

        def read():
            for line in stream:
                text.append(line.decode(errors="surrogateescape"))
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        self.processes.append(process)
        self.readers.append(reader)
        self.texts.append(text)
        return index

    # The ways in which jobs start.
    def run(self, program, options=()):
        self.spawn([self.tools.run, "-n", str(self.ranks), *options, program])

    def bench(self, cold):
        if not cold:
            shutil.copytree(self.tools.cache, self.path("cache"), dirs_exist_ok=True)
        self.spawn([self.tools.bench, "-n", str(self.ranks), *self.tools.bench_args])

    def shell(self, cold=False, per_rank=None, missing=(), host="node", port="29500"):
        """Like a plain shell or torchrun: no process watches the ranks."""
        if not cold:
            shutil.copytree(self.tools.cache, self.path("cache"), dirs_exist_ok=True)
        for rank in range(self.ranks):
            if rank in missing:
                continue
            env = {"RANK": str(rank), "WORLD_SIZE": str(self.ranks),
                   "LOCAL_RANK": str(rank), "MASTER_ADDR": host, "MASTER_PORT": port}
            env.update((per_rank or {}).get(rank, {}))
            self.spawn([self.tools.bench, *self.tools.bench_args], env)

    # Processes
    # -----------------------------------------------------------------
    def mine(self):
        """pid -> (name, rank or None) of every process of the job."""
        found, marker = {}, f"IRIS_FAULT_TAG={self.tag}\0".encode()
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    environ = file.read() + b"\0"
                if marker not in environ:
                    continue
                with open(f"/proc/{name}/stat") as file:
                    stat = file.read()
            except OSError:
                continue
            comm, state = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2]
            if state in "ZX":
                continue
            rank = re.search(rb"(?:^|\0)(?:IRIS_)?RANK=(\d+)\0", environ)
            found[int(name)] = (comm, int(rank.group(1)) if rank else None)
        return found

    def rank_pid(self, rank):
        for pid, (comm, of) in self.mine().items():
            if of == rank and comm != "iris-compile":
                return pid
        return None

    def compiler_pid(self):
        return next((pid for pid, (comm, _) in self.mine().items()
                     if comm == "iris-compile"), None)

    def running(self, but=()):
        return [p for p in self.processes if p.pid not in but and p.poll() is None]

    def signal(self, pid, number):
        try:
            os.kill(pid, number)
            return True
        except ProcessLookupError:
            return False

    def wait(self, but=()):
        """Waits until all started processes have ended; returns whether they
        have."""
        end = self.began + LIMITS["bound"]
        while self.running(but) and time.monotonic() < end:
            time.sleep(0.01)
        return not self.running(but)

    # Results
    # -------------------------------------------------------------------
    def finish(self):
        self.seconds = time.monotonic() - self.began
        self.ended = not self.running()
        vanished = time.monotonic() + 5
        self.orphans = self.mine()
        while self.orphans and time.monotonic() < vanished:
            time.sleep(0.02)
            self.orphans = self.mine()
        for pid in self.orphans:
            self.signal(pid, signal.SIGKILL)
        for process in self.processes:
            process.wait()
        for reader in self.readers:
            reader.join(5)
        self.statuses = [p.returncode for p in self.processes]
        self.text = "".join("".join(text) for text in self.texts)
        self.left = [f"tmp/{n}" for n in listing(self.path("tmp")) + folders(self.path("tmp"))]
        self.left += [f"run/{n}" for n in listing(self.path("run"))]

    def blamed(self, but=None):
        """The ranks that the job's processes (except number `but`) report as
        at fault: in "rank 0 failed: rank 1 did not ..." the last one."""
        ranks = set()
        for line in "".join("".join(text) for index, text in enumerate(self.texts)
                            if index != but).splitlines():
            for groups in BLAME.findall(line)[-1:]:
                ranks.update(int(n) for n in re.findall(r"\d+", "".join(groups)))
        return ranks

    def remove(self):
        remove_tree(self.root)


class Tools:
    """The programs, and what they run."""

    def __init__(self, folder, ranks):
        self.ranks = ranks
        self.compile, self.run, self.bench = (
            os.path.join(os.path.abspath(folder), name)
            for name in ("iris-compile", "iris-run", "iris-bench"))
        self.source = os.path.join(HERE, "rounds.mlir")
        self.bench_args = ["--ops=all_reduce", "--sizes=1K:4K", "--samples=3",
                           "--warmups=1", "--calls=3", "--modes=eager"]
        self.scratch = tempfile.mkdtemp(prefix=PREFIX)
        os.chmod(self.scratch, 0o711)  # jobs may run as other users
        self.package = os.path.join(self.scratch, "rounds.iris")
        self.cache = os.path.join(self.scratch, "cache")
        os.mkdir(self.cache, 0o700)

    def prepare(self):
        """Compiles, fills the cache, and measures how long jobs take."""
        self.seconds = {}
        job = Job(self, self.ranks)
        job.spawn([self.compile, self.source, "--target=host", "-o", self.package])
        self.recordFailure(job, "iris-compile")
        job.remove()
        for start in STARTS:
            job = Job(self, self.ranks)
            STARTS[start](job)
            self.recordFailure(job, start)
            self.seconds[start] = job.seconds
            if start == "bench, cold":
                shutil.copytree(job.path("cache"), self.cache, dirs_exist_ok=True)
            job.remove()
        adapt(max(self.seconds.values()))

    def remove(self):
        """Removes the jobs and what they share."""
        remove_tree(self.scratch)

    @staticmethod
    def recordFailure(job, what):
        job.wait()
        job.finish()
        if any(job.statuses) or job.left:
            sys.exit(f"{what} fails without a fault: {job.statuses} {job.left}\n{job.text}")


STARTS = {
    "run package": lambda job: job.run(job.tools.package),
    "run source": lambda job: job.run(job.tools.source),
    "bench, cold": lambda job: job.bench(cold=True),
    "bench, warm": lambda job: job.bench(cold=False),
    "shell, cold": lambda job: job.shell(cold=True),
    "shell, warm": lambda job: job.shell(cold=False),
}
