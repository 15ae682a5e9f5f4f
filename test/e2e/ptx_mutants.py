"""Seeded faults in PTX: one function per kind of fault, which gives every place where it can be made.

A fault is a change of some lines of a kernel that the driver would accept. What finds it is in FAULTS: the kinds of findings of the simulator's
sanitizer, one of which must be reported, and how many of the places that are executed must be found: all, unless the change is harmless in places
(a barrier that guards nothing, a bound that is never exceeded).
"""
import re
from dataclasses import dataclass, field

ENTRY = re.compile(r"\.entry\s+([\w$]+)")
GUARD = re.compile(r"^(\s*)(@!?%p\d+\s+)?(.*)$", re.S)
HALF_WARP = ["\t.reg .pred %mutp;", "\t.reg .b32 %mutr;", "\t.reg .f32 %mutf;", "\t.reg .b64 %mutd;", "\tmov.u32 %mutr, %tid.x;",
             "\tand.b32 %mutr, %mutr, 31;", "\tsetp.lt.u32 %mutp, %mutr, 16;"]


@dataclass
class Kernel:
    name: str
    first: int  # line numbers from 0: the line behind the register declarations
    body: range  # lines between the braces


@dataclass
class Mutant:
    fault: str
    kernel: str
    line: int  # from 1, as the simulator counts: must be executed; 0: any of the kernel
    edits: dict = field(default_factory=dict)  # line from 0 -> lines in its place


def kernels_of(lines):
    """The kernels of a module."""
    out, i = [], 0
    while i < len(lines):
        entry = ENTRY.search(lines[i])
        i += 1
        if not entry or ";" in lines[i - 1]:
            continue
        while lines[i].strip() != "{":
            i += 1
        begin = i = i + 1
        depth = 1
        while depth:
            depth += lines[i].count("{") - lines[i].count("}") if re.match(r"\s*[{}]", lines[i]) else 0
            i += 1
        end = i - 1
        first = begin
        while re.match(r"\s*(//|\.|$)", lines[first]):
            first += 1
        out.append(Kernel(entry.group(1), first, range(first, end)))
    return out


def opcode(line):
    m = re.match(r"\s*(?:@!?%p\d+\s+)?([a-z][\w.:]*)", line)
    return m.group(1) if m else ""


def guarded(line, predicate="%mutp"):
    """The instruction only where the predicate holds; None if it has one."""
    lead, guard, rest = GUARD.match(line).groups()
    return None if guard else f"{lead}@{predicate} {rest}"


def moved(line, by):
    """The instruction with its first address moved by so many bytes."""
    m = re.search(r"\[([%\w$]+)(?:\+(-?\d+))?\]", line)
    return line[:m.start()] + f"[{m.group(1)}+{int(m.group(2) or 0) + by}]" + line[m.end():] if m else None


class Text:
    """A module and where its faults could be."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.kernels = kernels_of(self.lines)

    def where(self, pattern):
        """(kernel, line number from 0, line) of the instructions whose opcode matches."""
        test = re.compile(pattern)
        for k in self.kernels:
            for i in k.body:
                if test.match(opcode(self.lines[i])):
                    yield k, i, self.lines[i]

    def swap(self, fault, pattern, change):
        """A mutant per instruction that `change` gives lines for."""
        for k, i, line in self.where(pattern):
            new = change(line)
            if new is not None:
                edits = {i: [new] if isinstance(new, str) else new}
                edits.setdefault(k.first, [self.lines[k.first]])
                edits[k.first] = HALF_WARP + edits[k.first]
                yield Mutant(fault, k.name, i + 1, edits)

    def apply(self, mutant):
        out = []
        for i, line in enumerate(self.lines):
            out += mutant.edits.get(i, [line])
        return "\n".join(out)


FAULTS = {}


def fault(name, kinds, share=1.0, **environment):
    """Registers a fault: the kinds that it may be found as, the least share of executed places that are."""
    def add(function):
        FAULTS[name] = (function, set(kinds.split()), share, environment)
        return function
    return add


def swapped(name, kinds, pattern, change, share=1.0, **environment):
    """Registers the fault of every instruction whose opcode matches and that `change` gives lines for."""
    fault(name, kinds, share, **environment)(lambda t: t.swap(name, pattern, change))


# Addresses.

swapped("misaligned-vector", "misaligned", r"(ld|st)\.(global|shared)[\w.:]*\.v[24]\.", lambda line: moved(line, 4))
swapped("misaligned-word", "misaligned", r"(ld|st)\.(global|shared)(\.nc)?\.[fbus]32$", lambda line: moved(line, 2))
swapped("misaligned-copy", "misaligned", r"cp\.async\.c[ag]\.", lambda line: moved(line, 4))
swapped("misaligned-matrix", "misaligned", r"ldmatrix\.", lambda line: moved(line, 8))
swapped("read-far", "out-of-bounds", r"ld\.global", lambda line: moved(line, 0x7fff0000))
swapped("write-far", "out-of-bounds", r"st\.global", lambda line: moved(line, 0x7fff0000))
swapped("write-before-shared", "out-of-bounds", r"st\.shared", lambda line: moved(line, -0x40000))
swapped("read-behind-shared", "out-of-bounds", r"(ld\.shared|ldmatrix)", lambda line: moved(line, 0x40000))
swapped("copy-behind-shared", "out-of-bounds", r"cp\.async\.c[ag]\.", lambda line: moved(line, 0x40000))


# Values that nobody wrote.

swapped("store-left-out", "uninitialized shared-race async-race", r"st\.shared", lambda line: "", 0.7)
swapped("copy-left-out", "uninitialized", r"cp\.async\.c[ag]\.", lambda line: "", 0.7)


# Where nothing is stored that depends on it, nothing is said.
@fault("load-left-out", "uninitialized", 0.7)
def _(t):
    """The only write of a register."""
    writes = {}
    for k in t.kernels:
        for i in k.body:
            m = re.match(r"\s*(?:@!?%p\d+\s+)?[a-z][\w.:]*\s+\{?(%\w+)", t.lines[i])
            if m:
                writes.setdefault((k.name, m.group(1)), []).append(i)
    for k, i, line in t.where(r"ld\.(shared|global)(\.nc)?\.[fbus]32$"):
        register = re.search(r"(%\w+)\s*,", line).group(1)
        used = sum(len(re.findall(re.escape(register) + r"\b", t.lines[n])) for n in k.body)
        if writes.get((k.name, register)) == [i] and used > 1 and "@" not in line:
            yield Mutant("load-left-out", k.name, i + 1, {i: [""]})


# Order.

swapped("barrier-left-out", "shared-race async-race warp-race uninitialized", r"bar(rier)?\.sync", lambda line: "", 0.25)


@fault("barrier-too-early", "shared-race async-race uninitialized")
def _(t):
    """In front of the store that it should follow."""
    for k, i, line in t.where(r"bar(rier)?\.sync"):
        before = [n for n in range(max(k.first, i - 3), i) if t.lines[n].strip() and "//" not in t.lines[n]]
        if before and opcode(t.lines[before[-1]]).startswith("st.shared"):
            store = before[-1]
            yield Mutant("barrier-too-early", k.name, i + 1, {store: [line], i: [t.lines[store]]})


swapped("warp-barrier-left-out", "warp-race shared-race uninitialized", r"bar\.warp\.sync", lambda line: "", 0.5)
swapped("wait-left-out", "async-race", r"cp\.async\.wait_(group|all)", lambda line: "", 0.7)


@fault("wait-for-one-less", "async-race", 0.5)
def _(t):
    def change(line):
        m = re.search(r"wait_group\s+(\d+)", line)
        return line.replace(m.group(0), f"wait_group {int(m.group(1)) + 1}") if m else line.replace("wait_all", "wait_group 1")
    return t.swap("wait-for-one-less", r"cp\.async\.wait_(group|all)", change)


swapped("commit-left-out", "async-race", r"cp\.async\.commit_group", lambda line: "", 0.5)
swapped("fence-left-out", "global-race", r"(fence\.|membar\.)", lambda line: "", 0.5)


@fault("atomic-made-plain", "global-race shared-race warp-race")
def _(t):
    """red.add as a load, an addition and a store that others may come between."""
    def change(line):
        m = re.match(r"(\s*)red\.([\w.:]*\.)?add\.[us]32\s+(\[[^\]]+\]),\s*([^;]+);", line)
        if not m:
            return None
        space = "shared" if "shared" in line else "global"
        return [f"\tld.{space}.u32 %mutr, {m.group(3)};", f"\tadd.s32 %mutr, %mutr, {m.group(4)};", f"\tst.{space}.u32 {m.group(3)}, %mutr;"]
    return t.swap("atomic-made-plain", r"red\.", change)


@fault("one-place-for-all", "warp-race global-race out-of-bounds")
def _(t):
    """Every thread writes its value to the start of the page, too."""
    def change(line):
        m = re.search(r"\[(%rd\d+)", line)
        value = re.search(r",\s*(%[fr]\d+);", line)
        if not m or not value:
            return None
        kind = "f32" if value.group(1)[1] == "f" else "u32"
        return [line, f"\tand.b64 %mutd, {m.group(1)}, -4096;", "\tmov.u32 %mutr, %tid.x;", "\tst.global.u32 [%mutd], %mutr;"] if kind else None
    return t.swap("one-place-for-all", r"st\.global\.[fu]32$", change)


@fault("cached-read-of-written", "non-coherent")
def _(t):
    def change(line):
        m = re.search(r"\[[^\]]+\]", line)
        guard = GUARD.match(line).group(2) or ""
        return [line, f"\t{guard}ld.global.nc.f32 %mutf, {m.group(0)};"]
    return t.swap("cached-read-of-written", r"st\.global\.f32$", change)


# Lanes of a warp.

swapped("half-of-the-mask", "warp-mask", r"shfl\.sync", lambda line: re.sub(r",[^,]*;", ", 65535;", line))
swapped("half-of-the-lanes", "deadlock warp-mask fault uninitialized", r"shfl\.sync", guarded)
swapped("vote-of-half", "warp-mask", r"vote\.sync|redux\.sync|match\.", lambda line: re.sub(r",[^,]*;", ", 65535;", line))
swapped("matrix-of-half", "deadlock fault warp-mask", r"(mma|ldmatrix)\.", guarded)
swapped("half-at-the-barrier", "divergent-barrier deadlock", r"bar(rier)?\.sync", guarded, 0.4)


# Ends.

swapped("trap", "fault", r"fma\.rn\.f32|mma\.", lambda line: ["\ttrap;", line])


@fault("loop-without-end", "deadlock out-of-bounds uninitialized misaligned", 0.8, LLMC_CUDASIM_TIMEOUT="1")
def _(t):
    """A branch back to a label above it, always taken."""
    labels = {m.group(1): i for i, line in enumerate(t.lines) if (m := re.match(r"(\$[\w]+):", line))}
    for k, i, line in t.where(r"bra"):
        m = re.match(r"\s*@!?%p\d+\s+bra\s+(\$\w+);", line)
        if m and labels.get(m.group(1), i) < i:
            before = max(n for n in range(k.first, i) if opcode(t.lines[n]) and opcode(t.lines[n]) != "bra")
            yield Mutant("loop-without-end", k.name, before + 1, {i: [f"\tbra.uni {m.group(1)};"]})


@fault("too-many-threads", "launch")
def _(t):
    """The kernel is made for fewer threads than it is launched with."""
    for k in t.kernels:
        for i in range(k.first - 1, 0, -1):
            if ENTRY.search(t.lines[i]):
                break
            if ".maxntid" in t.lines[i]:
                yield Mutant("too-many-threads", k.name, 0, {i: [".maxntid 16, 1, 1"]})


@fault("not-a-number", "nan", LLMC_CUDASIM_SANITIZE="nan")
def _(t):
    def change(line):
        m = re.match(r"\s*add\.rn\.f32\s+(%f\d+),", line)
        return f"\tadd.rn.f32 {m.group(1)}, 0f7F800000, 0fFF800000;" if m else None
    return t.swap("not-a-number", r"add\.rn\.f32", change)


swapped("early-without-wait", "early-launch", r"griddepcontrol\.wait", lambda line: "")


def mutants(text):
    """(Text, {fault: [Mutant]})."""
    t = Text(text)
    return t, {name: list(make(t)) for name, (make, *_) in FAULTS.items()}
