"""Breaks scenarios along their structure.

A text is cut into tokens, and keys and values are found among them, so that what comes out is mostly TOML and
gets past the parser: values of other types, signs and units, values of other scenarios in the place of this one's,
keys that are gone, misspelled or there twice, arrays and tables that are empty, doubled or exchanged. Some texts
get a few random bytes as well.
"""

import re

TOKEN = re.compile(
    r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|\[\[|\]\]|[\[\]{}=,.\n]|[^\s\[\]{}=,."\'#]+(?:\.[0-9]\S*?(?=[\s,\]}]|$))?|[ \t\r]+|.'
)
OPEN, CLOSED = {"[", "{", "[["}, {"]", "}", "]]"}
# Sizes are small, or so large that no machine has the memory: in between a scenario may ask for a lot of work.
NUMBERS = """0 1 2 3 7 -1 -7 100 255 256 4294967295 4294967296 2147483648 9223372036854775807 -9223372036854775808
    9007199254740993 1000000000000 0.0 -0.0 0.5 1.0 1.5 0.1 1e-9 1e-320 5e-324 1e18 1e300 1.7976931348623157e308
    -1e-9 -0.5 nan -nan inf -inf 0x10 1_000""".split()
QUANTITIES = """0s 1ns 1ms 20ms 1s 3m 2h 9d -1s 1.5s 0.4ns 1e300s 9e9h 292y 999999d infs nans 5 5m5 1h30m 1µs 1us
    1bps 0bps 20Mbps 1e12Gbps -3Mbps 1MB/s 1FLOPS 4GFLOPS 0FLOPS 1e30GFLOPS 50% 0% 100% 101% -1% ∞ s bps""".split()
WORDS = """all each first uniform by-size round-robin oort tiers fednova fedavg zeros default identity equal full off
    once round random in-order always drop next stale keep discard renormalize unbiased inverse-probability sgd
    momentum adam yogi adagrad fp16 none scaffold vrlsgd quadratic synthetic table natural iid constant accumulation
    steps counts fills-up deadline virtual true""".split()
OTHERS = """true false [] {} [[]] [{}] "" " " [0] [1,2] [1,"a"] {a=1} 1979-05-27 07:32:00 "\\u0000" "\\u202e"
    {uniform=[1,0]} {uniform=["1s","2s"]} {choice=[]} {normal={mean=0,std=0}} {lognormal={median=1,sigma=99}}
    {pareto={scale=1,shape=0.01}} {exponential={mean=0}} {exponential={mean=1e308}} {fraction=0} {clients=0}
    {clients=99999} {deadline="1ns"} {first=1,of=1} {buffer=99999} {window="1ns"} {top_k=1e-9} {quantize=1}
    {quantize=64} {dirichlet=1e-9} {shards=999} {normal=1e300} {steps=0} {epochs=1e-9} {until="deadline"}""".split()


def tokens(text):
    return TOKEN.findall(text)


def group(parts, start):
    """The end of the value that begins at a token."""
    depth = 0
    for place in range(start, len(parts)):
        depth += (parts[place] in OPEN) - (parts[place] in CLOSED)
        if parts[place] in ("[[", "]]"):
            depth += 1 if parts[place] == "[[" else -1
        after = parts[place + 1] if place + 1 < len(parts) else "\n"
        if depth <= 0 and (after in CLOSED or after in ("\n", ",") or after.startswith("#")):
            return place + 1
    return len(parts)


def values(parts):
    """Where values are: pairs of places, behind every `=` and in arrays."""
    found, in_array = [], [False]
    for place, part in enumerate(parts):
        if part in OPEN and place and parts[place - 1] != "\n":
            in_array.append(part != "{")
        elif part in CLOSED and len(in_array) > 1:
            in_array.pop()
        if part == "=" or (in_array[-1] and part in (",", "[")):
            start = place + 1
            while start < len(parts) and parts[start].isspace() and parts[start] != "\n":
                start += 1
            if start < len(parts) and parts[start] not in CLOSED:
                found.append((start, group(parts, start)))
    return found


def lines(parts):
    """Where lines are: pairs of places."""
    ends = [place + 1 for place, part in enumerate(parts) if part == "\n"] + [len(parts)]
    return [pair for pair in zip([0, *ends], ends) if pair[0] < pair[1]]


def key_of(parts, start):
    """The name of the key whose value begins at a token, or None in an array."""
    for place in range(start - 1, max(-1, start - 4), -1):
        if parts[place] == "=":
            return "".join(parts[max(0, place - 2) : place]).split()[-1:] or None
    return None


class Scenarios:
    """Good scenarios, and what can be made of them. Those of `parts` lend their keys and values alone."""

    def __init__(self, texts, parts=()):
        self.texts = list(texts)
        self.by_key, self.lines = {}, []
        for text in [*self.texts, *parts]:
            parts = tokens(text)
            for start, end in values(parts):
                if key := key_of(parts, start):
                    self.by_key.setdefault(key[0], set()).add("".join(parts[start:end]))
            self.lines += {"".join(parts[start:end]) for start, end in lines(parts)}
        self.by_key = {key: sorted(them) for key, them in self.by_key.items()}
        self.keys, self.lines = sorted(self.by_key), sorted(set(self.lines))

    def broken(self, draws):
        """A scenario with a few faults, as bytes."""
        parts = tokens(draws.choice(self.texts))
        # Half of the time only values change, to others that may be allowed: most of these get as far as a run.
        mild = draws.random() < 0.5
        for _ in range(1 + int(draws.expovariate(0.7 if mild else 1.1))):
            parts = tokens("".join(self.change(parts, draws, mild)))
        content = "".join(parts).encode()
        return noise(content, draws) if not mild and draws.random() < 0.12 else content

    def change(self, parts, draws, mild):
        places, rows = values(parts), lines(parts)
        if not places:
            return parts + [draws.choice(self.lines)]
        # Most values of a scenario are entries of matrices: those of keys come more often.
        of_keys = [place for place in places if key_of(parts, place[0])]
        if mild:
            # A name that is another one is missed where it is referred to.
            of_keys = [place for place in of_keys if key_of(parts, place[0])[0] not in ("name", "of", "class")]
        start, end = draws.choice(of_keys if of_keys and draws.random() < 0.9 else places)
        old = "".join(parts[start:end])
        how = draws.random()
        if mild:
            return parts[:start] + [self.value(parts, start, old, draws, 0.6)] + parts[end:]
        if how < 0.76:
            return parts[:start] + [self.value(parts, start, old, draws)] + parts[end:]
        first, last = draws.choice(rows)
        if how < 0.81:
            return parts[:first] + parts[last:]
        if how < 0.83:
            return parts[:last] + parts[first:last] + parts[last:]
        if how < 0.86:
            return parts[:first] + [draws.choice(self.lines)] + parts[first:]
        if how < 0.88:
            key = draws.choice(self.keys)
            return parts[:first] + [f"{key} = {draws.choice(self.by_key[key])}\n"] + parts[first:]
        if how < 0.91:
            # Another name for the key, or a key of another table.
            names = [place for place in range(len(parts) - 2) if parts[place + 2] == "="]
            place = draws.choice(names or [0])
            name = draws.choice([draws.choice(self.keys), parts[place] + "x", parts[place][:-1], '""', "a.b"])
            return parts[:place] + [name] + parts[place + 1 :]
        if how < 0.94:
            other, until = draws.choice(rows)
            if last <= other:
                return parts[:first] + parts[other:until] + parts[last:other] + parts[first:last] + parts[until:]
            return parts[:first] + parts[other:until] + parts[last:]
        if how < 0.97 and old[:1] in "[{":
            inner = old[1:-1].strip().rstrip(",")
            doubled = f"{old[0]}{inner}, {inner}{old[-1]}" if inner else old
            return parts[:start] + [draws.choice([doubled, old[0] + old[-1], f"[{old}]"])] + parts[end:]
        # Two values change places.
        second, until = draws.choice(places)
        if end <= second:
            return parts[:start] + parts[second:until] + parts[end:second] + parts[start:end] + parts[until:]
        return parts[:start] + parts[second:until] + parts[end:]

    def value(self, parts, start, old, draws, most=1.0):
        """Another value, the more likely to be wrong the larger `most` is."""
        key, how = key_of(parts, start), draws.random() * most
        if how < 0.3 and key and key[0] in self.by_key:
            return draws.choice(self.by_key[key[0]])
        number = re.match(r'"?(\d+(?:\.\d+)?)(.*)', old)
        if how < 0.55 and number:
            # The same unit, and another number of about its size.
            digits = number[1]
            other = draws.choice(["0", "1", "2", digits + "0", digits + "00", "0." + digits.replace(".", ""), digits[0]])
            return old.replace(digits, other, 1)
        if how < 0.8:
            # Another value of the same type.
            if old[:1] in "\"'":
                is_quantity = any(character.isdigit() for character in old)
                return '"' + draws.choice(QUANTITIES if is_quantity else WORDS) + '"'
            if old[:1] not in "[{tf":
                return draws.choice(NUMBERS)
        pool = draws.choice([NUMBERS, OTHERS, [f'"{it}"' for it in QUANTITIES + WORDS]])
        return draws.choice(pool)


def noise(content, draws):
    """The bytes with a few of them changed, gone or new."""
    content = bytearray(content)
    for _ in range(draws.randint(1, 6)):
        place = draws.randrange(len(content) + 1)
        how = draws.randrange(4)
        if how == 0 and place < len(content):
            content[place] ^= 1 << draws.randrange(8)
        elif how == 1:
            content.insert(place, draws.randrange(256))
        elif how == 2:
            del content[place : place + draws.randint(1, 9)]
        else:
            content[place:place] = content[place : place + draws.randint(1, 30)]
    return bytes(content)
