#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the repository uses the field's words instead of private ones.

    utils/check-words.py [PATH...]     checks tracked text files, all by default
    utils/check-words.py --list        prints the rules and the exceptions
    utils/check-words.py --self-test   tests the rules on planted words

Prints `file:line: 'word': use 'replacement'` for each finding. Words are whole
words, in any case, also within identifiers (camelCase and snake_case); phrases
are regular expressions, and are found across the end of a line too, in comments,
string literals and text. ALLOWED has the legitimate uses, each with a reason.

exit status: 0 without findings, 1 with findings, 2 for a wrong command line.
"""
import argparse
import bisect
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Files that are not checked, and why.
SKIPPED = [
    (r"CHANGELOG\.md", "describes earlier versions in their words"),
    (r"LICENSE", "not our text"),
    (r"benchmarks/results/", "recorded output"),
    (r"docs/images/", "generated"),
    (r"utils/check-words\.py", "lists the words"),
]

# `needles`: one of them, in lower case, is in every text that the rule matches.
Rule = collections.namedtuple("Rule", "name regex use needles", defaults=[()])
Exception_ = collections.namedtuple("Exception_", "rule path line reason")


def word(use, *forms):
    """A rule for a word: whole, or a component of an identifier."""
    either = "|".join(forms)
    capitals = "|".join(form[0].upper() + form[1:] for form in forms)
    regex = (rf"(?<![A-Za-z])(?i:{either})(?![a-z])"
             rf"|(?<=[a-z0-9])(?:{capitals})(?![a-z])")
    return Rule(forms[0], re.compile(regex), use,
                tuple(form.lower() for form in forms))


def phrase(use, name, regex):
    """A rule for a phrase: a regular expression in any case."""
    return Rule(name, re.compile(regex, re.IGNORECASE), use)


def code(use, name, regex):
    """A rule for an identifier: a regular expression, with its case."""
    return Rule(name, re.compile(regex), use)


# A declaration of a variable, before its name.
DECLARED = (r"\b(?:auto|bool|double|float|Value|Number|MatrixOffset|UniqueFd|"
            r"u?int\d+_t|TileRange<\w+>) [&*]?")

RULES = [
    # Identifiers of generators, schedules and models.
    code("operandOffsetsOf", "placesOf", r"\bplacesOf\b"),
    code("offset, index", "place of a tile",
         DECLARED + r"place\b|\bplaceIn[A-Z]?\w*"),
    code("broadcast", "spread", r"\bspread\("),
    code("signal", "raise", r"(?:\.|->|(?<=[A-Za-z])(?<!std)::|\bvoid )raise\("),
    code("wait", "await",
         r"(?:\.|->|::|\bvoid )await\(|\bawait(?:Here|Count)\b"),
    code("communication, transfer", "moving", DECLARED + r"moving\b"),
    code("the peer's", "theirs", DECLARED + r"theirs\b"),
    code("compute tiles, peers", "ofOthers", r"\bofOthers\b"),
    code("off the heap, at another offset", "elsewhere",
         DECLARED + r"elsewhere\b|\bisElsewhere\b|/\*elsewhere="),
    code("hasUnusedColumns", "leavesOut", r"\bleavesOut\b"),
    code("range, partial sum", "share", DECLARED + r"share\b"),
    code("slice, chunk, shard", "part",
         r"\b(?:gather|receive|multiply|copied|all|own|Own)Parts?\b|"
         r"\b(?:class|struct) Parts?\b|\bpart(?:Tiles?|ByPart)\b|"
         r"(?:\.|->|::)part\(|" + DECLARED + r"parts?\b"),
    code("tileStart, start", "place of an operand",
         r"\bOperandTileStart &?place\b|\bplace\.(?:buffer|offsets?)\b"),
    code("subview", "part of a view", r"\bSubViewOp part\b|\bview\.parts\b"),
    phrase("elements, rows, region", "the thread's part",
           r"\b(?:thread|warpgroup|warp)'s part\b"),
    phrase("location, offset", "the place of", r"\bthe place of (?:an?|one|the) "
           r"(?:operand|second|first|tile|program|block)\b"),
    # Sentences without the concrete noun.
    phrase("the concrete noun", "time is over", r"\btime is over\b"),
    phrase("are at", "lie", r"\b(?:buffers?|slots?|tiles?|words?|rows|chunks) "
           r"lie\b"),
    phrase("partial sums", "shares leave",
           r"\bshares (?:leave|arrive|come|go|are sent)\b"),
    phrase("communication programs, compute programs", "those that move",
           r"\bthose that (?:move|multiply|send|compute|fetch)\b"),
    phrase("the concrete noun", "get theirs",
           r"\b(?:get|gets|receive|receives|have|has|announce) theirs\b"),
    phrase("the concrete noun", "are to get",
           r"\bothers are to (?:get|have|come|be)\b"),
    # Matmuls and tiles.
    word("matmul", "product", "products"),
    word("operand tile", "panel", "panels"),
    word("slice", "slab", "slabs"),
    word("segment", "stretch", "stretches"),
    phrase("XOR swizzle", "flip",
           r"\bxor[- ]flips?\b|(?:choose|get|row|chunk)Flips?\b"),
    word("nonPow2Efficiency", "oddColumns"),
    word("copyOverlapLoss", "besideEngines"),
    phrase("LDS or shared memory", "workgroup's memory",
           r"\bworkgroup's memory\b"),
    # Programs and warps.
    word("communication program", "mover", "movers"),
    word("peer program", "namesake", "namesakes"),
    word("warp specialization, producer or consumer warp", "role", "roles"),
    word("producer fence", "handOff", "hand_off", "hand-off", "handOffs",
         "hand-offs"),
    # Selection.
    word("tuning key", "situation", "situations"),
    word("requested config", "wish", "wishes"),
    # Waits and failures.
    word("wait status or result", "verdict", "verdicts"),
    phrase("time out", "give up",
           r"\b(?:give|gives|given|gave|giving)[ _]?up\b"),
    phrase("fail or diverge", "at odds", r"\bat odds\b"),
    word("record the failure", "settle", "settles"),
    word("action", "deed", "deeds"),
    # Barriers and flags.
    word("arrive", "greet", "greets", "greeted"),
    word("arrival", "greeting", "greetings"),
    word("unidentified peer", "stranger", "strangers"),
    word("barrier", "meeting", "meetings"),
    phrase("wait at a barrier", "meet",
           r"\b(?:ranks|programs|threads|waves|warps|members|all|they|"
           r"everyone) meet\b"
           r"|\bmeets? (?:its|the other|each other|all|their|peer)\b"),
    phrase("set the flag", "raise a flag",
           r"\brais(?:e|es|ed|ing) (?:\w+ ){0,3}(?:flags?|words?|epochs?)\b"
           r"|raise_?flag"),
    # Point-to-point.
    word("FIFO slot", "mailbox", "mailboxes", "mailBox", "mailBoxes"),
    word("FIFO", "mail", "mails"),
    word("high-priority", "urgent"),
    # Partial sums.
    phrase("partial sum", "share of a sum",
           r"\bshares? of (?:a|the|its|their) (?:sum|result|tile)s?\b"),
    Rule("Share", re.compile(r"(?<=[a-z])Shares?(?![a-z])"),
         "partial sum, range, fraction"),
    # Order and places.
    phrase("assigned round-robin", "dealt out",
           r"\b(?:deal|deals|dealt|dealing)(?: \w+)? out\b"),
    phrase("alternate", "take turns",
           r"\b(?:take|takes|taking|took) turns\b|\b(?:by|in) turns\b"),
    phrase("iteration", "turn",
           r"\b(?:each|every|per|one|a|this|next|last) turn\b(?! (?:of events))"
           r"|\bturn (?:to|by|after) turn\b|\bturn of (?:the|a) loop\b"
           r"|%turns?\d*\b|\bfor turn in\b|\bturns?Of\b"),
    phrase("is", "lies", r"\blies\b|\blie (?:in|at|on|beside|next|anywhere|"
           r"there|behind|below|apart|together|where|along)\b"),
    phrase("is", "stands", r"\bstands? (?:in|at|on|beside|before|behind|"
           r"there|below|above|between)\b"),
    phrase("offset, address, index or location", "place",
           r"\bplaceOf\b|(?-i:(?<=[a-z])(?<![iI]n)(?<!can)Place\b)|%places?\w*|@places\b"
           r"|\bat other places\b|\bhash(?:es)? of (?:\w+ ){0,2}places?\b"
           r"|\((?:rank|row|i), place\)"),
    phrase("after this barrier, after it", "behind it", r"\bbehind it\b"),
    phrase("past", "behind the end", r"\bbehind the end\b"),
    # Grammar.
    phrase("no rank, no peer, no thread", "nobody", r"\bnobody\b"),
    phrase("every rank, every thread", "everybody", r"\beverybody\b"),
    phrase("another rank, another thread", "somebody", r"\bsomebody\b"),
    phrase("local, this rank's", "the own", r"\bthe own\b"),
    phrase("the concrete noun", "that which", r"\bthat which\b"),
    phrase("the start", "the begin", r"\b(?:the|its) begin\b"),
    phrase("pass, store", "hand over",
           r"\bhand(?:s|ed|ing)? (?:\w+ )?over\b"),
    phrase("get", "come by", r"\bcomes? by\b"),
    phrase("serve, is needed for", "is there for",
           r"\b(?:is|are) there for\b"),
    phrase("record, report", "tell of",
           r"\b(?:tell|tells|told) (?:of|nobody|everybody)\b"),
    phrase("forever", "for ever", r"\bfor ever\b"),
]

# Legitimate uses: (rule, file, line, reason), where file and line are regular
# expressions that have to match from the start and anywhere, respectively.
ALLOWED = [Exception_(*entry) for entry in [
    ("part", r"(?!(?:lib|include/iris)/(?:Kernels|Plan)/|runtime/src/ccl/|"
     r"lib/a\.cpp)", r"", "a part of a message, a vector or a register tile"),
    ("place of a tile", r"test/", r"", "an index of the test's data"),
    ("spread", r".*\.py", r"", "a function of a script"),
    ("Share", r"(?:runtime|test/runtime)/nccl/", r"(?:split|shrink)Share",
     "fields of ncclConfig_t"),
    ("elsewhere", r"test/", r"", "memory that is not on the heap"),
    ("theirs", r"runtime/src/backends/emulated/", r"UniqueFd",
     "the child's end of a pair of sockets"),
    ("product", r"", r"itertools\.product|math\.prod|np\.prod|cartesian",
     "Python's Cartesian product"),
    ("product", r"", r"(?i)(?:dot|outer|inner|cross|matrix|partial|scalar|"
     r"exact|large) products?", "named kinds of products"),
    ("product", r"", r"(?i)products? (?:of|in) ", "a x b of numbers"),
    ("product", r"", r"(?i)(?:sums?|adds?|adding|reference sums) (?:\w+ )*"
     r"products?\b|sum of$", "terms of a dot product"),
    ("product", r"(?:examples|test)/", r"(?:^|// )products is exact|"
     r"with the product in", "terms of a dot product"),
    ("product", r"", r"(?i)products? (?:overflows?|with the first|is exact|"
     r"is multiplied)|whose product|first product|fp8 products|"
     r"products' absolute", "products of numbers"),
    ("product", r"tools/iris-bench/MatmulData\.cpp", r"",
     "terms of the host's reference"),
    ("product", r"test/Target/AMDGPU/exact-floats\.mlir", r"",
     "products of scalars"),
    ("product", r"", r"\w*[pP]roduct\w* ?(?:[-+*/]?=|\[|\()|: \w+ product\b"
     r"|\(product\b|[*+] ?product\b|\bproduct[;,)]", "a variable that holds a "
     "product of numbers"),
    ("product", r"test/", r"(?i)products (?:reach|multiply|and sums)|"
     r"sums and products|narrowed[ _]product", "products of scalars"),
    ("product", r"test/Emulated/(?:floats|expressions|arithmetic)\.(?:py|test)",
     r"", "arithmetic on scalars"),
    ("product", r"", r"enum \w*reduc|\bprod\b", "the reduction `prod`"),
    ("product", r"lib/Target/ExactSelection\.cpp", r"",
     "multiplications of scalars"),
    ("product", r"test/Emulated/matmul_epilogue\.py|tools/iris-bench/README",
     r"", "products of numbers"),
    ("panel", r"benchmarks/(?:programs-sweep|plot-collectives)\.py", r"",
     "panels of a Matplotlib figure"),
    ("role", r"benchmarks/compare\.py", r"",
     "what a measurement is compared as"),
    ("role", r".*\.(?:svg|html)", r"role=", "markup"),
    ("settle", r"", r"settled? (?:down|on)\b", "common English"),
    ("mail", r"", r"@[\w.]+\.(?:org|com)|e-?mail|mailing list|Mailing",
     "electronic mail"),
    ("behind it", r"", r"queue(?:s|d)? behind it", "the order of a queue"),
    ("turn", r"", r"\bin turn\b", "'one after the other'"),
    ("give up", r"benchmarks/limits/", r"giveUp\(", "ends the process"),
]]


def is_allowed(rule, path, line):
    return any(e.rule == rule.name and re.match(e.path, path)
               and re.search(e.line, line) for e in ALLOWED)


# Rules whose matches may have a space, and so be broken over lines; the others.
PHRASES = [rule for rule in RULES if re.search(r" |\\s", rule.regex.pattern)]
WORDS = [rule for rule in RULES if rule not in PHRASES]


def find_words(text):
    """The rules for words that match anywhere in a text."""
    lower = text.lower()
    return [rule for rule in WORDS
            if (not rule.needles or any(n in lower for n in rule.needles))
            and rule.regex.search(text)]


def check_line(path, line, rules=RULES):
    """(word, replacement) of each finding in a line."""
    return [(match.group(), rule.use) for rule in rules
            for match in [rule.regex.search(line)]
            if match and not is_allowed(rule, path, line)]


# What begins a line of a comment or of a string literal, and what ends one.
LEADER = re.compile(r"^\s*(?:(?://[/!]?<?|#+|;+|\*+(?!/)|--|\"|')\s*)?")
TRAILER = re.compile(r"\s*(?:\\n)?[\"']?\s*\\?$")


def join_lines(lines):
    """The lines without what begins and ends a comment or a literal, as one
    text, and the offset of each line in it. Phrases do not cross blank lines."""
    parts, offsets, length = [], [], 0
    for line in lines:
        part = LEADER.sub("", TRAILER.sub("", line)) or "\0"
        offsets.append(length)
        parts.append(part)
        length += len(part) + 1
    return " ".join(parts), offsets


def find_phrases(path, lines):
    """The rules for phrases that match anywhere in a file, and (line number,
    word, replacement) of each finding that is broken over lines."""
    text, offsets = join_lines(lines)
    rules, broken = [], []
    for rule in PHRASES:
        for match in rule.regex.finditer(text):
            if rule not in rules:
                rules.append(rule)
            first = bisect.bisect_right(offsets, match.start())
            last = bisect.bisect_right(offsets, match.end() - 1)
            whole = text[offsets[first - 1]:offsets[last]
                         if last < len(offsets) else None]
            if first != last and not is_allowed(rule, path, whole):
                broken.append((first, match.group(), rule.use))
    return rules, broken


def check_text(path, lines):
    """(line number, word, replacement) of each finding in a file."""
    # Most files have none of the words.
    rules, found = find_phrases(path, lines)
    rules += find_words("\n".join(lines))
    for number, line in enumerate(lines, 1):
        found += [(number, *each) for each in check_line(path, line, rules)]
    return sorted(found)


def tracked_files(paths):
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *paths]
    names = subprocess.run(command, check=True, capture_output=True).stdout
    return [name for name in names.decode().split("\0")
            if name and not any(re.match(s, name) for s, _ in SKIPPED)]


def read_lines(name):
    """The lines of a text file; none of a binary or missing one."""
    path = ROOT / name
    if path.is_symlink() or not path.is_file():
        return []
    data = path.read_bytes()
    try:
        return [] if b"\0" in data else data.decode().splitlines()
    except UnicodeDecodeError:
        return []


def wrap(line):
    """The line with each space in turn as the end of a line of a comment, of a
    string literal and of text."""
    for at in [i for i, c in enumerate(line) if c == " "]:
        first, second = line[:at], line[at + 1:]
        yield [f"  /// {first}", f"  /// {second}"]
        yield [f"# {first}", f"# {second}"]
        yield [f'  fail("{first} "', f'       "{second}");']
        yield [first, second]


def self_test():
    """The lines that the rules misjudge."""
    found = [
        "the verdict of a wait", "emitVerdictPointer(x)", "packet_verdict.py",
        "numMovers", "a product with bias", "ProductCase", "bPanel", "slabs",
        "their namesakes", "a mailbox of its own", "is_mail", "Situation key",
        "the flag lies at 0", "where they lie in memory", "the wait gives up",
        "both take turns", "in every turn", "%turn32 = ", "raises that flag",
        "all meet at the flag", "Behind it nobody reads", "the own columns",
        "tiles are dealt out", "hands it over", "spins for ever",
        "the workgroup's memory", "addShare(tile)", "hashes of their places",
        "elementPlace = 3", "a hash of (rank, place)",
        "A member's time is over by then", "where the buffers lie",
        "Shares leave in the same way", "Those that move multiply first",
        "others are to get theirs", "the members announce theirs",
        "llvm::function_ref<OperandOffsets(Value)> placesOf)",
        "Value place = flag(source, rowTile)", "MatrixOffset place{k.c, row}",
        "placeInStaging(k, parts, source, row)", "k.raise(receiver, flag);",
        "void MatmulBuilder::raise(Value member, Value flag) {",
        "values = spread(b, values, 0, type);", "k.await(flag, source);",
        "void awaitHere(Value flag);", "k.awaitCount(flag, source, n);",
        "auto moving = n.min(commPrograms, n.index(1));",
        "finish(double moving)",
        "auto theirs = n.min(tiles, moving);", "auto ofOthers = 1;",
        "double programs, double elsewhere = 0) {", "bool isElsewhere;",
        "/*elsewhere=*/true", "bool leavesOut = true;",
        "forTiles(const TileRange<Value> &share)", "Value share = sum;",
        "class OwnPart {", "k.gatherParts(from, start)", "partTiles(n)",
        "k.part(k.out, k.me, start, length)", "Value part = k.div(kb, n);",
        "const OperandTileStart &place, Value left", "view(place.buffer, t);",
        "for (memref::SubViewOp part : views)", "view.parts.push_back(part);",
        "The warpgroup's part of the tile", "the thread's part of the block",
        "The place of one operand tile", "worth the place of a second program",
    ]
    missed = [line for line in found if not check_line("lib/a.cpp", line)]
    missed += [line for line in found for text in wrap(line)
               if not check_text("lib/a.cpp", text)]
    allowed = [
        ("lib/a.cpp", "for a, b in itertools.product(x, y)"),
        ("lib/a.cpp", "a dot product of two rows"),
        ("lib/a.cpp", "sums of products are exact"),
        ("lib/a.cpp", "int64_t product = 1;"),
        ("lib/a.cpp", "each op in turn, in place"),
        ("lib/a.cpp", "  return share;"),
        ("lib/a.cpp", "this implies that it applies"),
        ("lib/a.cpp", "threads share one placeholder, turned off"),
        ("lib/a.cpp", "raise ValueError(text)"),
        ("lib/a.cpp", "::raise(SIGTERM); std::raise(SIGTERM);"),
        ("lib/a.cpp", "moving the data elsewhere is part of the copy"),
        ("lib/a.cpp", "programs share the tiles; a part of the spread"),
        ("lib/a.cpp", "in place, as theirs are"),
        ("benchmarks/programs-sweep.py", "def draw_panel(axes):"),
        ("README.md", "an e-mail to a@llvm.org"),
    ]
    wrong = [f"{path}: {line}: {check_line(path, line)}"
             for path, line in allowed if check_line(path, line)]
    # A blank line ends a paragraph; words of two sentences are no phrase.
    for lines in (["the flag", "", "lies"], ["a role", "takes"]):
        wrong += [f"{lines}: {use}" for number, text, use in
                  check_text("lib/a.cpp", lines) if " " in text]
    # The allow-list is per rule: another word in such a line is found.
    if not check_line("lib/a.cpp", "a dot product and its verdict"):
        missed.append("a dot product and its verdict")
    if not check_line("lib/a.cpp", "def draw_panel(axes):"):
        missed.append("draw_panel outside of the plots")
    return [f"not found: {line}" for line in missed] + [
        f"not allowed: {line}" for line in wrong]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="files or folders, relative to the repository")
    parser.add_argument("--list", action="store_true",
                        help="print the rules and the exceptions")
    parser.add_argument("--self-test", action="store_true",
                        help="test the rules on planted words")
    options = parser.parse_args()
    if options.self_test:
        problems = self_test()
        print("\n".join(problems) if problems else "self-test: ok")
        return 1 if problems else 0
    if options.list:
        for rule in RULES:
            print(f"{rule.name}: use '{rule.use}'")
        for e in ALLOWED:
            print(f"allowed: {e.rule} in {e.path or 'any file'}: {e.reason}")
        return 0
    count = 0
    for name in tracked_files(options.paths):
        for number, text, use in check_text(name, read_lines(name)):
            print(f"{name}:{number}: '{text}': use '{use}'")
            count += 1
    if count:
        print(f"check-words.py: {count} findings", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
