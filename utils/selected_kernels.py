# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that the selector may choose, of drawn problems.

`iris-bench --requests` names them without a device: of a matmul the configs
that are measured where it is created, of a collective the choice.
"""
import random
import re
import subprocess

MATMULS = ["matmul", "all_gather_matmul", "matmul_all_gather",
           "matmul_reduce_scatter", "matmul_all_reduce"]
COLLECTIVES = ["all_gather", "all_reduce", "reduce_scatter", "all_to_all",
               "broadcast", "reduce", "gather", "scatter", "send"]
# Of a and b, and of elements that are added up.
MATMUL_TYPES = ["f16", "bf16", "f32", "i8", "f8e4m3fn", "f8e5m2"]
TYPES = ["f16", "bf16", "f32", "f64", "i8", "i32"]
# Constants of the code that change nothing else: one kernel stands for all that
# differ in them only.
NUMBERS = re.compile(r"\b(programs|num_fetch_programs|tiles_per_comm_program|"
                     r"k_per_flag|group_m) = \d+(, )?")


def draw_log(draw, least, most):
    return round(least * (most / least) ** draw.random())


def draw_matmul(draw, ranks):
    """Options of a matmul: as many rows as ranks have in equal numbers, N and K
    of whole blocks."""
    op = draw.choice(MATMULS)
    step = 128 * ranks
    shape = (ranks * draw_log(draw, 1, 16384 // ranks), step * draw.randint(1, 16384 // step),
             step * draw.randint(1, 16384 // step))
    options = [f"--ops={op}", f"--dtypes={draw.choice(MATMUL_TYPES)}",
               f"--shape={'x'.join(map(str, shape))}",
               f"--b={draw.choice(['row', 'column'])}"]
    if op in ("matmul_reduce_scatter", "matmul_all_reduce"):
        options.append(f"--partial-type={draw.choice(['sum', 'result'])}")
    return options


def draw_collective(draw):
    return [f"--ops={draw.choice(COLLECTIVES)}",
            f"--dtypes={draw.choice(TYPES)}",
            f"--sizes={draw_log(draw, 64, 2**28) // 16 * 16}",
            ] + ["--staged"] * draw.randint(0, 1)


def draw_problems(seed, count):
    """(options of iris-bench, whether it is a matmul), alternately."""
    draw = random.Random(seed)
    for number in range(count):
        ranks = draw.choice([2, 4, 8])
        is_matmul = number % 2 == 0
        yield ([f"-n{ranks}"] + (draw_matmul(draw, ranks) if is_matmul
                                 else draw_collective(draw)), is_matmul)


def request_lines(lines):
    """Those of a list, without what separates them."""
    return [line for line in lines if not line.startswith("//")]


def list_requests(bench, target, options, is_matmul, candidates, table):
    """Lines of requests. `table` is a path that is not written."""
    tuning = [f"--tune={candidates}", f"--table={table}"] if is_matmul else []
    run = subprocess.run(
        [bench, "--device=hip", f"--target={target}", "--requests=-", *options,
         *tuning], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        raise ValueError(f"{' '.join(run.args)} failed: {run.stderr}")
    return request_lines(run.stdout.splitlines())


def get_form(request):
    """What is the same for requests with the same code but for constants."""
    return NUMBERS.sub("", re.sub(r"@\w+|loc\(.*", "", request))


def draw_requests(bench, target, seed, count, candidates, table):
    """One request for each form, in the order in which they are drawn."""
    forms = {}
    for options, is_matmul in draw_problems(seed, count):
        for request in list_requests(bench, target, options, is_matmul,
                                     candidates, table):
            forms.setdefault(get_form(request), request)
    return list(forms.values())
