#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures a training step of PyTorch's DDP or FSDP, on NCCL and on Iris.

    torchrun --standalone --nproc-per-node=2 training_step.py fsdp
    LD_PRELOAD=<prefix>/lib/libiris_nccl.so \\
      torchrun --standalone --nproc-per-node=2 training_step.py fsdp

A step is the forward and backward pass of a transformer in bf16 and SGD. It
overlaps communication with matmuls. Prints the median, the least and the
largest time of a step, and the last loss.
"""
import argparse
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


class Model(torch.nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(width, width // 128, 4 * width,
                                             0.0, batch_first=True,
                                             norm_first=True)
            for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def make(kind, width, layers, gpu):
    with torch.device("cuda"):
        model = Model(width, layers)
    if kind == "ddp":
        return torch.nn.parallel.DistributedDataParallel(
            model.to(torch.bfloat16), device_ids=[gpu])
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16,
                                  reduce_dtype=torch.bfloat16)
    for layer in model.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    return model


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=["ddp", "fsdp"])
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--steps", type=int, default=18,
                        help="the first four are not counted")
    args = parser.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl", device_id=torch.device("cuda", gpu))
    torch.manual_seed(1)
    model = make(args.kind, args.width, args.layers, gpu)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    x = torch.randn(args.batch, args.tokens, args.width, device="cuda",
                    dtype=torch.bfloat16)
    times = []
    for _ in range(args.steps):
        dist.barrier()
        torch.cuda.synchronize()
        start = time.perf_counter()
        loss = model(x).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    if dist.get_rank() == 0:
        times = sorted(times[4:])
        print(f"{args.kind}: {statistics.median(times):.2f} ms a step "
              f"({times[0]:.2f} to {times[-1]:.2f}), loss {loss.item():.6f}",
              flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
