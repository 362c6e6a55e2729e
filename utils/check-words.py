#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the repository uses the field's words instead of private ones.

    utils/check-words.py [PATH...]     checks tracked text files, all by default
    utils/check-words.py --list        prints the rules and the exceptions
    utils/check-words.py --self-test   tests the rules on planted words

Prints `file:line: 'word': use 'replacement'` for each finding. Words are whole
words, in any case, also within identifiers (camelCase and snake_case); phrases
are regular expressions. ALLOWED has the legitimate uses, each with a reason.

exit status: 0 without findings, 1 with findings, 2 for a wrong command line.
"""
import argparse
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

Rule = collections.namedtuple("Rule", "name regex use")
Exception_ = collections.namedtuple("Exception_", "rule path line reason")


def word(use, *forms):
    """A rule for a word: whole, or a component of an identifier."""
    either = "|".join(forms)
    capitals = "|".join(form[0].upper() + form[1:] for form in forms)
    regex = (rf"(?<![A-Za-z])(?i:{either})(?![a-z])"
             rf"|(?<=[a-z0-9])(?:{capitals})(?![a-z])")
    return Rule(forms[0], re.compile(regex), use)


def phrase(use, name, regex):
    """A rule for a phrase: a regular expression in any case."""
    return Rule(name, re.compile(regex, re.IGNORECASE), use)


RULES = [
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


def find_rules(text):
    """The rules that match anywhere in a text."""
    return [rule for rule in RULES if rule.regex.search(text)]


def check_line(path, line, rules=RULES):
    """(word, replacement) of each finding in a line."""
    return [(match.group(), rule.use) for rule in rules
            for match in [rule.regex.search(line)]
            if match and not is_allowed(rule, path, line)]


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
    ]
    missed = [line for line in found if not check_line("lib/a.cpp", line)]
    allowed = [
        ("lib/a.cpp", "for a, b in itertools.product(x, y)"),
        ("lib/a.cpp", "a dot product of two rows"),
        ("lib/a.cpp", "sums of products are exact"),
        ("lib/a.cpp", "int64_t product = 1;"),
        ("lib/a.cpp", "each op in turn, in place"),
        ("lib/a.cpp", "  return share;"),
        ("lib/a.cpp", "this implies that it applies"),
        ("lib/a.cpp", "threads share one placeholder, turned off"),
        ("benchmarks/programs-sweep.py", "def draw_panel(axes):"),
        ("README.md", "an e-mail to a@llvm.org"),
    ]
    wrong = [f"{path}: {line}: {check_line(path, line)}"
             for path, line in allowed if check_line(path, line)]
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
        lines = read_lines(name)
        rules = find_rules("\n".join(lines))
        for number, line in enumerate(lines if rules else [], 1):
            for text, use in check_line(name, line, rules):
                print(f"{name}:{number}: '{text}': use '{use}'")
                count += 1
    if count:
        print(f"check-words.py: {count} findings", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
