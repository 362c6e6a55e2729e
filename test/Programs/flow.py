# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow of random kernels. Every region carries the digest (values.py)."""
from accesses import Accesses
from values import Value

MOST_DEPTH = 2


class Flow(Accesses):
    def region(self, names=()):
        self.scopes.append(list(names))
        self.depth += 1
        return len(self.views)

    def end(self, views):
        del self.views[views:]
        self.scopes.pop()
        self.depth -= 1

    def carried(self):
        """Values that a region gives: none, one or two."""
        found = self.visible(lambda v: True)[:6]
        return [self.choices.pick(found)
                for _ in range(self.choices.number(3))] if found else []

    def yields(self, carried):
        """Values of these types; the digest in front has all that nothing uses."""
        values = [self.value(v.shape, v.element) for v in carried]
        for value in values:
            value.uses += 1
        self.show_unused()
        return [self.digest] + values

    def words(self, values):
        return ", ".join(self.use(v) for v in values)

    def results(self, carried):
        name = self.new()
        text = name + (f":{len(carried)}" if len(carried) > 1 else "") + " = "
        return text, [Value(f"{name}#{n}" if len(carried) > 1 else name, v.shape,
                            v.element) for n, v in enumerate(carried)]

    def leave(self, results):
        """After a region: its first result is the digest."""
        self.digest = results[0]
        self.scopes[-1] += results[1:]

    def branch(self):
        carried, test = self.carried(), self.operand("i1", ())
        self.two_regions(carried, f"scf.if {self.use(test)}", "scf")

    def two_regions(self, carried, op, dialect):
        before = self.digest
        text, results = self.results([before] + carried)
        types = ", ".join(v.type for v in [before] + carried)
        arrow = f"({types})" if dialect == "scf" or carried else types
        self.add(f"{text}{op} -> {arrow} {{")
        for n in range(2):
            self.digest = before
            views = self.region()
            self.statements(4)
            self.add(f"{dialect}.yield {self.words(self.yields(carried))} : {types}")
            self.end(views)
            self.add("} else {" if n == 0 else "}")
        self.leave(results)

    def loop(self):
        carried = [self.digest] + self.carried()
        text, results = self.results(carried)
        inner = [Value(self.new(), v.shape, v.element) for v in carried]
        counter = Value(self.new(), (), "index")
        names = ", ".join(f"{a.name} = {self.use(v)}"
                          for a, v in zip(inner, carried))
        types = ", ".join(v.type for v in carried)
        header = f" iter_args({names}) -> ({types})"
        is_affine = self.choices.chance(50)
        last = 1 + self.choices.number(4)
        if is_affine:
            step = self.choices.pick(["", "", " step 2"])
            self.add(f"{text}affine.for {counter.name} = 0 to {last}{step}{header} {{")
        else:
            bound = self.constant(last)
            if self.choices.chance(30):
                bound = self.index(5)
            zero, step = self.constant(0).name, self.constant(
                self.choices.pick([1, 1, 2])).name
            self.add(f"{text}scf.for {counter.name} = {zero} to {bound.name} step "
                     f"{step}{header} {{")
        views = self.region([counter] + inner[1:])
        self.digest = inner[0]
        if is_affine:
            self.maps(counter)
        self.statements(3)
        kind = "affine" if is_affine else "scf"
        self.add(f"{kind}.yield {self.words(self.yields(carried[1:]))} : {types}")
        self.end(views)
        self.add("}")
        self.leave(results)

    def maps(self, counter):
        """Ops whose operands are the counter of an affine loop, and the rank."""
        i = counter.name
        counter.uses += 1
        for _ in range(1 + self.choices.number(3)):
            a, b = 1 + self.choices.number(5), self.choices.number(9)
            kind = self.balanced(["apply", "min", "max", "if"], "affine")
            if kind == "apply":
                text = self.choices.pick([
                    f"(d0 * {a} + s0 - {b})", f"((d0 - {b}) floordiv {a})",
                    f"((d0 - {b}) mod {a})", f"((s0 - d0 * {b}) ceildiv {a})"])
                self.define(f"affine.apply affine_map<(d0)[s0] -> {text}>({i})[%rank]",
                            (), "index")
            elif kind == "if":
                self.two_regions(
                    self.carried(), "affine.if affine_set<(d0)[s0] : (d0 * "
                    f"{a} - s0 - {self.choices.number(3)} >= 0)>({i})[%rank]", "affine")
            else:
                self.define(f"affine.{kind} affine_map<(d0)[s0] -> (d0 * {a} - {b}, s0, "
                            f"d0 - s0)>({i})[%rank]", (), "index")

    def repeat(self):
        """A while loop of at most 4 iterations."""
        carried = self.carried()
        limit, one = self.constant(4), self.constant(1)
        counter = Value(self.new(), (), "index")
        all_ = [self.digest] + carried
        first = [Value(self.new(), v.shape, v.element) for v in all_]
        second = [Value(self.new(), v.shape, v.element) for v in all_]
        again = Value(self.new(), (), "index")
        types = ", ".join(["index"] + [v.type for v in all_])
        text, results = self.results([again] + all_)
        names = ", ".join([f"{counter.name} = {self.constant(0).name}"] + [
            f"{a.name} = {self.use(v)}" for a, v in zip(first, all_)])
        self.add(f"{text}scf.while ({names}) : ({types}) -> ({types}) {{")
        views = self.region([counter] + first[1:])
        self.digest = first[0]
        self.statements(2)
        less = self.define(f"arith.cmpi ult, {counter.name}, {limit.name} : index",
                           (), "i1", False)
        test = self.binary("arith.andi", less, self.operand("i1", ()), False)
        passed = self.yields(carried)
        self.add(f"scf.condition({test.name}) " + ", ".join(
            [counter.name] + [self.use(v) for v in passed]) + f" : {types}")
        self.end(views)
        self.add("} do {")
        self.add("^bb0(" + ", ".join(f"{v.name}: {v.type}"
                                     for v in [again] + second) + "):")
        views = self.region([again] + second[1:])
        self.digest = second[0]
        self.statements(2)
        next_ = self.define(f"arith.addi {again.name}, {one.name} : index", (),
                            "index", False)
        again.uses += 1
        self.add("scf.yield " + ", ".join(
            [next_.name] + [self.use(v) for v in self.yields(carried)]) +
            f" : {types}")
        self.end(views)
        self.add("}")
        self.scopes[-1].append(results[0])
        self.leave(results[1:])

    def scalar_regions(self, opening, cases):
        """Regions that give a scalar, and a digest of their own."""
        element = self.choices.pick(["i32", "f32", "index"])
        name = self.new()
        outer, shown = self.digest, Value(f"{name}#1", (), "i32")
        self.add(f"{name}:2 = {opening} -> "
                 + (f"({element}, i32)" if cases == [""] else f"{element}, i32")
                 + (" {" if cases == [""] else ""))
        for case in cases:
            if case:
                self.add(case + " {")
            self.digest = self.constant(self.choices.number(9), "i32")
            views = self.region()
            self.statements(2)
            digest, value = self.yields([Value("", (), element)])
            self.add(f"scf.yield {self.use(value)}, {digest.name} : {element}, i32")
            self.end(views)
            self.add("}")
        self.digest = outer
        self.scopes[-1] += [Value(f"{name}#0", (), element), shown]

    def switch(self):
        self.scalar_regions(f"scf.index_switch {self.index(4).name}",
                            ["case 1", "case 2", "default"])

    def execute(self):
        self.scalar_regions("scf.execute_region", [""])

    def statements(self, most, least=0):
        computing = [self.arithmetic, self.reduced, self.widened, self.transposed,
                     self.range, self.splat]
        moving = [self.load, self.element, self.gathered, self.view, self.scratch,
                  self.matmul, self.early_store, self.copied, self.scattered, self.vector,
                  self.called, self.extent, self.update]
        nested = [self.branch, self.loop, self.repeat, self.switch, self.execute]
        for _ in range(least + self.choices.number(most - least + 1)):
            kind = self.choices.number(100)
            if kind >= 86 and self.depth < MOST_DEPTH:
                group, name = nested, "nested"
            elif kind >= 40:
                group, name = moving, "moving"
            elif kind >= 25:
                group, name = computing, "computing"
            else:
                self.arithmetic()
                continue
            names = [method.__name__ for method in group]
            getattr(self, self.balanced(names, name))()
