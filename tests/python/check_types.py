"""Checks rows that tieout read from PostgreSQL against the server's own text: check_types.py FILE.

The file is JSON lines. The first holds "columns", a list of [name, shape, canonical type]; each other line is one row:
"key" and "row", the canonical bytes in hexadecimal (both hold all columns), and "texts", the server's text of each
column or null. A shape says how the server writes the type: a word, or a list: ["array", shape],
["composite", [[name, shape], ...]] in the order of the store, ["range", shape], ["multirange", shape].

The text is parsed here and the bytes are decoded by decoder.py; neither knows the other. Prints each failure (a few of
a column) and `N passed, M failed`; exits with 1 when any failed or when there is no row.
"""

import ipaddress
import json
import re
import struct
import sys

from check_vectors import interval_parts, number_parts, structure
from decoder import ESCAPED, GEOMETRIC, Malformed, Reader, decode_parsed, json_text, parse_type, read_key_form

SHOWN = 3
NULL = ("null",)


# The server's text, parsed to plain values that can be compared.


def float_bits(value):
    return "NaN" if value != value else struct.pack(">d", value + 0.0).hex()


def float4_bits(text):
    return float_bits(struct.unpack("f", struct.pack("f", float(text)))[0])


def money(text):
    return number_parts(re.sub(r"[$,]", "", text))


def address(text):
    return str(ipaddress.ip_interface(text))


def figure(text):
    closed = not text.startswith("[")
    floats = re.findall(r"-?(?:Infinity|NaN|\d+(?:\.\d+)?(?:e[+-]?\d+)?)", text)
    return closed, tuple(float_bits(float(x)) for x in floats)


SCALARS = {
    "bool": {"true": True, "false": False}.__getitem__, "number": number_parts, "money": money,
    "float4": float4_bits, "float8": lambda text: float_bits(float(text)), "json": structure, "inet": address,
    "interval": lambda text: tuple(sorted(interval_parts(text).items())),
    **{name: figure for name in GEOMETRIC},
}
# Written by the server as the decoder writes them.
SAME = ("text", "bytea", "bits", "date", "time", "timetz", "timestamp", "timestamptz", "uuid", "mac")


def parse(shape, text, inside=False):
    """The comparable value of the server's text of a value that is not NULL."""
    if isinstance(shape, str):
        if shape == "bool" and inside:
            text = {"t": "true", "f": "false"}[text]
        if shape == "hstore":
            return hstore(text)
        if shape in SAME:
            return text
        return SCALARS[shape](text)
    return {"array": array, "composite": composite, "range": range_of, "multirange": multirange}[shape[0]](shape[1], text)


def element(shape, text, quoted, null):
    return NULL if not quoted and text == null else parse(shape, text, True)


class Scanner:
    def __init__(self, text):
        self.text, self.at = text, 0

    def peek(self):
        return self.text[self.at:self.at + 1]

    def take(self, expected=None):
        char = self.peek()
        if not char or expected not in (None, char):
            raise ValueError(f"expected {expected!r} at {self.at} of a server text, found {char!r}")
        self.at += 1
        return char

    def word(self, stops):
        """A possibly quoted piece up to one of `stops`: (text, whether any of it was quoted)."""
        out, quoted = [], False
        while self.peek() and self.peek() not in stops:
            if self.peek() == '"':
                self.take()
                out.append(self.quoted())
                quoted = True
            elif self.peek() == "\\":
                self.take()
                out.append(self.take())
            else:
                out.append(self.run(stops + '"\\'))
        return "".join(out), quoted

    def run(self, stops):
        """The characters up to one of `stops`."""
        match = re.compile(f"[^{re.escape(stops)}]*").match(self.text, self.at)
        self.at = match.end()
        return match.group()

    def quoted(self):
        """The rest of a quoted piece; quotes in it are doubled or stand after a backslash."""
        out = []
        while True:
            out.append(self.run('"\\'))
            if self.take() == "\\" or self.peek() == '"':
                out.append(self.take())
            else:
                return "".join(out)

    def end(self):
        if self.at != len(self.text):
            raise ValueError(f"a server text goes on at {self.at}")


def array(shape, text):
    """(dimensions, elements) as [[length, lower bound], ...] and a flat tuple."""
    lowers, body = None, text
    if text.startswith("["):
        head, body = text.split("=", 1)
        lowers = [int(low) for low in re.findall(r"\[(-?\d+):", head)]
    scanner = Scanner(body)
    stops = (";" if shape == "box" else ",") + "}"
    lengths, elements = [], []

    def level(depth):
        scanner.take("{")
        count = 0
        while scanner.peek() != "}":
            if count:
                scanner.take(stops[0])
            if scanner.peek() == "{":
                level(depth + 1)
            else:
                piece, quoted = scanner.word(stops)
                elements.append(element(shape, piece, quoted, "NULL"))
            count += 1
        scanner.take("}")
        while len(lengths) <= depth:
            lengths.append(None)
        if lengths[depth] not in (None, count):
            raise ValueError("a ragged array")
        lengths[depth] = count

    level(0)
    scanner.end()
    if not elements:
        return (), ()
    return tuple(zip(lengths, lowers or [1] * len(lengths))), tuple(elements)


def composite(fields, text):
    scanner = Scanner(text)
    scanner.take("(")
    values = {}
    for number, (name, shape) in enumerate(fields):
        if number:
            scanner.take(",")
        piece, quoted = scanner.word(",)")
        values[name] = element(shape, piece, quoted, "")
    scanner.take(")")
    scanner.end()
    return tuple(sorted(values.items()))


def one_range(shape, scanner):
    if scanner.text.startswith("empty", scanner.at):
        scanner.at += 5
        return "empty"
    lower_included = scanner.take() == "["
    lower = element(shape, *scanner.word(","), "")
    scanner.take(",")
    upper = element(shape, *scanner.word(")]"), "")
    return lower, upper, lower_included, scanner.take() == "]"


def range_of(shape, text):
    scanner = Scanner(text)
    value = one_range(shape, scanner)
    scanner.end()
    return value


def multirange(shape, text):
    scanner = Scanner(text)
    scanner.take("{")
    ranges = []
    while scanner.peek() != "}":
        if ranges:
            scanner.take(",")
        ranges.append(one_range(shape, scanner))
    scanner.take("}")
    scanner.end()
    return tuple(ranges)


def hstore(text):
    scanner, entries = Scanner(text), {}
    while scanner.peek():
        if entries:
            scanner.take(",")
            scanner.take(" ")
        key, _ = scanner.word("=")
        scanner.take("=")
        scanner.take(">")
        entries[key] = element("text", *scanner.word(","), "NULL")
    return tuple(sorted(entries.items()))


# What the decoder gives, as the same plain values.


def plain(shape, value):
    if value is None and shape != "json":
        return NULL
    if isinstance(shape, str):
        if shape in ("number", "money"):
            return number_parts(value)
        if shape in ("float4", "float8"):
            return float_bits(value)
        if shape == "json":
            return json_text(value)
        if shape == "inet":
            return address(value)
        if shape == "interval":
            return tuple(sorted(value.items()))
        if shape == "hstore":
            return tuple(sorted((k, plain("text", v)) for k, v in value))
        if shape in GEOMETRIC:
            flat = [x for point in value[shape] for x in point] if shape in ("path", "polygon") else value[shape]
            # The server writes a segment in brackets, as it does an open path.
            return value.get("closed", shape != "lseg"), tuple(float_bits(x) for x in flat)
        return value
    kind, inner = shape
    if kind == "array":
        return tuple(map(tuple, value["dimensions"])), tuple(plain(inner, v) for v in value["elements"])
    if kind == "composite":
        return tuple(sorted((name, plain(field, value[name])) for name, field in inner))
    if kind == "range":
        if value == "empty":
            return value
        return (plain(inner, value["lower"]), plain(inner, value["upper"]),
                value["lower_included"], value["upper_included"])
    return tuple(plain(["range", inner], v) for v in value)


def row_fields(columns, data):
    """The value form of each field of a row, None for NULL."""
    reader = Reader(data)
    for _ in columns:
        presence = reader.unsigned(1)
        if presence > 1:
            raise Malformed(f"presence byte {presence:02X}")
        yield reader.take(reader.varint()) if presence else None
    reader.end()


def key_parts(columns, data, fields):
    """What each part of a key holds, given the value forms of the same columns in the row.

    A key form is the value form, escaped or not; so it is enough that it gives the same bytes again. Bits differ.
    """
    reader = Reader(data)
    for (_, shape, canonical), form in zip(columns, fields, strict=True):
        presence = reader.unsigned(1)
        if presence > 1:
            raise Malformed(f"presence byte {presence:02X}")
        kind = parse_type(canonical)
        if not presence:
            yield form is None
        elif kind[0] == "bits":
            yield form is not None and read_key_form(reader, kind) == decode_parsed(kind, form)
        elif kind[0] in ESCAPED:
            yield reader.unescape() == form
        else:
            yield reader.take(len(form or b"")) == form
    reader.end()


def short(value):
    text = repr(value)
    return text if len(text) < 200 else text[:200] + "..."


def main(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    columns = lines[0]["columns"]
    passed, failures, rows = 0, {}, lines[1:]
    for number, row in enumerate(rows):
        fields = list(row_fields(columns, bytes.fromhex(row["row"])))
        keys = list(key_parts(columns, bytes.fromhex(row["key"]), fields))
        for (name, shape, canonical), field, key, text in zip(columns, fields, keys, row["texts"], strict=True):
            expected = NULL if text is None else parse(shape, text)
            found = NULL if field is None else plain(shape, decode_parsed(parse_type(canonical), field))
            if found == expected and key:
                passed += 1
            else:
                wrong = "the key part is another value" if found == expected else f"found {short(found)}"
                failures.setdefault(name, []).append(
                    f"{name}, row {number}: {short(text)} is {short(expected)}, {wrong}")
    for several in failures.values():
        print(*several[:SHOWN], sep="\n")
    failed = sum(map(len, failures.values()))
    print(f"{len(rows)} rows of {len(columns)} columns: {passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: check_types.py FILE")
    sys.exit(main(sys.argv[1]))
