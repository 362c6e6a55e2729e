# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of the scripts that execute many cases of generated kernels."""


def add_check_options(parser, seeds):
    """How an object's cases are executed; `seeds` is the default number."""
    parser.add_argument("hsaco")
    parser.add_argument("--memory", default="coherent,device,wg")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--budget", type=int, default=20_000_000,
                        help="most instructions of a run")
    parser.add_argument("--expect-failure", action="store_true",
                        help="succeed only if all cases go wrong")
    parser.add_argument("--verbose", action="store_true")
