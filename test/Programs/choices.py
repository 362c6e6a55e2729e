# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choices that make a program, and the search for few of them.

A generator asks for numbers. They come from a seed, or from a list, after whose
end every number is 0; the generator's first alternatives are its simplest ones.
So any list is a program, and a shorter or smaller list a simpler one.
"""
import random


class Choices:
    def __init__(self, seed=None, numbers=None):
        self.random = random.Random(seed) if numbers is None else None
        self.given = iter(numbers or [])
        self.made = []

    def number(self, bound):
        """From 0 to bound - 1."""
        value = (self.random.randrange(1 << 30) if self.random
                 else next(self.given, 0)) % bound
        self.made.append(value)
        return value

    def pick(self, items):
        return items[self.number(len(items))]

    def chance(self, percent):
        return self.number(100) >= 100 - percent


class Reduction:
    """The search for a program as small as possible that fails. `make` gives the text
    of numbers, and those that it has used; `fails` says whether a text fails."""

    def __init__(self, numbers, make, fails, log):
        self.make, self.fails, self.log = make, fails, log
        self.best, self.used = make(numbers)
        self.tried = {self.best}

    def attempt(self, numbers):
        """Whether they make a smaller program that fails, which is then the
        best."""
        text, used = self.make(numbers)
        while used and used[-1] == 0:
            used.pop()  # what follows the end is 0
        if (len(text), used) >= (len(self.best), self.used) or text in self.tried:
            return False
        self.tried.add(text)
        if not self.fails(text):
            return False
        self.best, self.used = text, used
        self.log(f"{len(text.splitlines())} lines, {len(used)} choices")
        return True

    def remove(self, size):
        """Runs of `size` numbers, or makes them 0."""
        start, progress = 0, False
        while start < len(self.used):
            before, after = self.used[:start], self.used[start + size:]
            if self.attempt(before + after):
                progress = True
                continue
            part = self.used[start:start + size]
            if any(part) and self.attempt(before + [0] * len(part) + after):
                progress = True
            start += size
        return progress

    def halve(self):
        progress = False
        for n in range(len(self.used)):
            while n < len(self.used) and self.used[n] > 1 and self.attempt(
                    self.used[:n] + [self.used[n] // 2] + self.used[n + 1:]):
                progress = True
        return progress


def reduce(numbers, make, fails, log=lambda text: None):
    """The text of the smallest program that the search finds."""
    search = Reduction(numbers, make, fails, log)
    progress = True
    while progress:
        progress, size = False, max(len(search.used) // 2, 1)
        while size:
            progress = search.remove(size) or progress
            size //= 2
        progress = search.halve() or progress
    return search.best
