# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small transformer with PyTorch's DDP or FSDP, and prints the losses.

    torchrun --standalone --nproc-per-node 2 training_loss.py ddp > nccl.txt
    LD_PRELOAD=<prefix>/lib/libiris_nccl.so \\
      torchrun --standalone --nproc-per-node 2 training_loss.py ddp > iris.txt

One line a step, with the loss as a hexadecimal float. With two ranks, whose sums
have one order, both libraries give the same bits.
"""
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard


class Model(torch.nn.Module):
    def __init__(self, vocabulary=512, width=256, layers=4):
        super().__init__()
        self.embed = torch.nn.Embedding(vocabulary, width)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0,
                                             batch_first=True)
            for _ in range(layers))
        self.head = torch.nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("ddp", "fsdp"):
        sys.exit("usage: torchrun ... training_loss.py ddp|fsdp")
    kind = sys.argv[1]
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    model = Model().cuda()
    if kind == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    else:
        for layer in model.layers:
            fully_shard(layer)
        fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    generator = torch.Generator().manual_seed(7 + dist.get_rank())
    for step in range(40):
        tokens = torch.randint(512, (16, 65), generator=generator)
        tokens[:, 1::2] = (tokens[:, 0:-1:2] * 3 + 1) % 512
        tokens = tokens.cuda()
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total, op=dist.ReduceOp.AVG)
        if dist.get_rank() == 0:
            print(kind, step, float(total).hex(), f"{float(total):.4f}",
                  flush=True)
    dist.destroy_process_group()


main()
