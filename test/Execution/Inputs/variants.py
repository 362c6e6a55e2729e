# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The variants of collectives under test, by the name of the op."""

MOVES = {"all_gather": ["push", "partitioned", "pull", "packet", "buffered"],
         "all_to_all": ["push", "pull", "packet", "buffered"],
         "broadcast": ["push", "pull", "scatter", "packet"],
         "gather": ["pull", "push", "packet"],
         "scatter": ["push", "pull", "packet"]}
REDUCES = {"all_reduce": ["two_shot", "two_shot_push", "one_shot",
                          "one_shot_packet", "two_shot_packet",
                          "one_shot_buffered", "ring", "atomic", "spinlock"],
           "reduce_scatter": ["pull", "packet", "buffered"],
           "reduce": ["pull", "two_shot", "packet"]}
# Variants that support in-place operation.
IN_PLACE = {"all_gather": ["push", "partitioned", "packet", "buffered"],
            "all_to_all": ["packet", "buffered"],
            "broadcast": ["push", "pull", "scatter", "packet"],
            "gather": ["push", "packet"], "scatter": ["pull", "packet"],
            "all_reduce": ["two_shot", "two_shot_push", "one_shot_packet",
                           "two_shot_packet", "one_shot_buffered", "ring"],
            "reduce_scatter": ["pull", "packet", "buffered"],
            "reduce": ["pull", "two_shot", "packet"]}
