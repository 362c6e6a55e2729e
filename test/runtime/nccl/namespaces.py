#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs communicators on nodes that are network namespaces, between which the
network is slow, and loses packets where the kernel has netem. Kills a node, and
takes another one from the network.

    namespaces.py --rank=PROGRAM --engine=LIBRARY

PROGRAM is iris-nccl-nodes-rank. Needs no privileges, but user namespaces, `ip`
and `tc`; exits with 77 and the reason where there are none.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
# Seconds for all ranks to end.
LIMIT = 200


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def enter_namespaces():
    """Starts this script again, as root of a user namespace of its own."""
    command = ["unshare", "--user", "--map-root-user", "--net"]
    for tool in ("unshare", "nsenter", "ip", "tc"):
        if not shutil.which(tool):
            skip(f"there is no '{tool}'")
    probe = subprocess.run(command + ["true"], capture_output=True, text=True)
    if probe.returncode != 0:
        skip("no user and network namespaces: " + probe.stderr.strip())
    os.execvp(command[0],
              command + [sys.executable, *sys.argv, "--inside"])


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


class Network:
    """Nodes with the addresses 10.9.0.1, 10.9.0.2, ... on a bridge."""

    def __init__(self, num_nodes):
        self.holders = []
        call("ip", "link", "add", "bridge", "type", "bridge")
        call("ip", "link", "set", "bridge", "up")
        for node in range(num_nodes):
            self.add_node(node)
        self.loses_packets = all([self.slow_down(node)
                                  for node in range(num_nodes)])

    def add_node(self, node):
        holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo; exec sleep 1000"],
            stdout=subprocess.PIPE)
        self.holders.append(holder)
        holder.stdout.readline()  # it is in its namespace
        call("ip", "link", "add", f"node{node}", "type", "veth", "peer", "name",
             "eth0", "netns", str(holder.pid))
        call("ip", "link", "set", f"node{node}", "master", "bridge", "up")
        for arguments in (["addr", "add", f"10.9.0.{node + 1}/24", "dev",
                           "eth0"],
                          ["link", "set", "eth0", "up"],
                          ["link", "set", "lo", "up"]):
            call(*self.inside(node), "ip", *arguments)

    def inside(self, node):
        return ["nsenter", f"--net=/proc/{self.holders[node].pid}/ns/net"]

    def slow_down(self, node):
        """Whether the link loses packets, too."""
        tc = [*self.inside(node), "tc", "qdisc", "add", "dev", "eth0", "root"]
        netem = subprocess.run(
            tc + ["netem", "delay", "1ms", "rate", "400mbit", "loss", "0.1%"],
            capture_output=True)
        if netem.returncode == 0:
            return True
        call(*tc, "tbf", "rate", "400mbit", "burst", "64kb", "latency", "100ms")
        return False

    def cut(self, node):
        call("ip", "link", "set", f"node{node}", "down")

    def close(self):
        for node, holder in enumerate(self.holders):
            subprocess.run(["ip", "link", "del", f"node{node}"],
                           capture_output=True)
            holder.kill()
            holder.wait()
        subprocess.run(["ip", "link", "del", "bridge"], capture_output=True)


class Ranks:
    """The processes of a communicator; nodes[i] is the node of rank i."""

    def __init__(self, options, network, nodes, mode, folder, limit="60"):
        self.nodes = nodes
        self.folder = folder
        self.processes = []
        for rank, node in enumerate(nodes):
            environment = dict(
                os.environ, IRIS_NODE=f"node{node}",
                IRIS_NODE_ADDRESS=f"10.9.0.{node + 1}",
                IRIS_INTERNODE_LIBRARY=options.engine, UCX_TLS="tcp,self",
                UCX_NET_DEVICES="eth0", IRIS_COLLECTIVE_LIMIT=limit,
                IRIS_WAIT_LIMIT=limit)
            self.processes.append(subprocess.Popen(
                [*network.inside(node), options.rank, str(rank),
                 str(len(nodes)), folder, mode], env=environment,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))

    def wait_until_started(self):
        end = time.monotonic() + LIMIT
        while not all(
                os.path.exists(f"{self.folder}/started.{rank}")
                for rank in range(len(self.nodes))):
            if time.monotonic() > end or any(
                    process.poll() is not None for process in self.processes):
                return
            time.sleep(0.01)

    def kill(self, node):
        for rank, process in enumerate(self.processes):
            if self.nodes[rank] == node:
                process.send_signal(signal.SIGKILL)

    def failures(self, without=None, expected=("",)):
        """What is wrong with the ranks of all nodes but one; they print one of
        the texts."""
        end = time.monotonic() + LIMIT
        wrong = []
        for rank, process in enumerate(self.processes):
            try:
                output, _ = process.communicate(
                    timeout=max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                output = process.communicate()[0] + " (ended by the test)"
            if self.nodes[rank] == without:
                continue
            if process.returncode != 0 or not any(
                    text in output for text in expected):
                wrong.append(f"rank {rank}, exit status {process.returncode}: "
                             f"{output.strip()}")
        return wrong


def run(options, nodes, end=None, expected=("",)):
    """Runs ranks on nodes; `end` ends a node while they are at work."""
    with tempfile.TemporaryDirectory(prefix="iris-nodes-") as folder:
        network = Network(max(nodes) + 1)
        try:
            ranks = Ranks(options, network, nodes, "fail" if end else "solve",
                          folder)
            if not end:
                return ranks.failures(), network.loses_packets
            ranks.wait_until_started()
            end(network, ranks)
            return ranks.failures(without=1, expected=expected), False
        finally:
            network.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", required=True)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--inside", action="store_true")
    options = parser.parse_args()
    if not options.inside:
        enter_namespaces()
    try:
        Network(2).close()
    except OSError as error:
        skip(f"no network between namespaces: {error}")
    num_wrong = 0
    for name, nodes, *end in (
            ("two nodes", [0, 1]),
            ("two nodes of two ranks", [0, 0, 1, 1]),
            ("three nodes of other sizes", [0, 1, 1, 0, 2]),
            ("four nodes of four ranks",
             [node for node in range(4) for _ in range(4)]),
            ("a killed node", [0, 0, 1, 1, 2],
             lambda network, ranks: ranks.kill(1),
             ("rank 2 failed", "rank 3 failed")),
            # The engine may notice it before the job does.
            ("a node without a network", [0, 0, 1, 1, 2],
             lambda network, ranks: network.cut(1),
             ("rank 2", "rank 3"))):
        start = time.monotonic()
        wrong, loses_packets = run(options, nodes, *end)
        num_wrong += len(wrong)
        print(f"{name}: {'; '.join(wrong) or 'ok'} "
              f"({time.monotonic() - start:.1f} s"
              f"{', with losses' if loses_packets else ''})", flush=True)
    return 1 if num_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
