"""A decoder of tieout's canonical bytes, written from docs/encoding.md alone.

It shares nothing with the engine, so that a rule which the engine breaks, or which the page leaves open, shows.
Standard library only; no lossy arithmetic: numbers are digit strings, floats are told apart by their bits.

decode_value(type_text, data), decode_key(type_texts, data), decode_row(type_texts, data) give Python values;
canonical_text(type_text, value) writes one down. Values are, by type: bool; number, text, dates and times, uuid,
binary, bits, inet, mac: str; float: float; interval: dict; json, list, struct, map, range: see the readers.
Anything that the page does not allow (a longer varint, a wrong order, bytes left over) raises Malformed.
"""

import fractions
import functools
import ipaddress
import json
import re
import struct
import typing

SECONDS_A_DAY = 86400
NANOS_A_SECOND = 1_000_000_000


class Malformed(ValueError):
    """The bytes are not a canonical encoding of the type."""


# Types: parsed from the text form into tuples (name, arguments...).

GEOMETRIC = ("point", "line", "lseg", "box", "path", "polygon", "circle")
SIMPLE = (
    "boolean", "number", "float", "text", "binary", "bits", "date", "time with zone", "timestamp", "time",
    "instant", "offset instant", "interval", "uuid", "json", "inet", "mac address (8 bytes)", "mac address",
) + GEOMETRIC
ESCAPED = ("text", "binary", "json", "inet", "list", "struct", "map", "range", "multirange") + GEOMETRIC


@functools.cache
def parse_type(text):
    """Type text to ("number",), ("list", t), ("struct", ((name, t), ...)), ("map", k, v), ("range", t) ..."""
    kind, rest = _parse(text)
    if rest:
        raise Malformed(f"type text {text!r}: {rest!r} is left over")
    return kind


def _parse(text):
    for name in ("list", "range", "multirange", "map", "struct"):
        if text.startswith(name + "<"):
            inner = text[len(name) + 1:]
            return _parse_struct(inner) if name == "struct" else _parse_arguments(name, inner)
    for name in SIMPLE:
        rest = text[len(name):]
        if text.startswith(name) and (rest == "" or rest[0] in ",>"):
            return (name,), rest
    raise Malformed(f"unknown type text {text!r}")


def _parse_arguments(name, text):
    first, rest = _parse(text)
    parts = (name, first)
    if name == "map":
        second, rest = _parse(_after(rest, ", "))
        parts += (second,)
    return parts, _after(rest, ">")


def _parse_struct(text):
    fields = []
    while not text.startswith(">"):
        if fields:
            text = _after(text, ", ")
        # A name may hold ": " itself: take the shortest name whose rest parses.
        start = 0
        while True:
            cut = text.find(": ", start)
            if cut < 0:
                raise Malformed(f"no field type in {text!r}")
            try:
                kind, rest = _parse(text[cut + 2:])
            except Malformed:
                start = cut + 1
                continue
            fields.append((text[:cut], kind))
            text = rest
            break
    # The order of the encoding, whatever order the text has.
    return ("struct", tuple(sorted(fields, key=lambda f: f[0].encode("utf-8")))), text[1:]


def _after(text, start):
    if not text.startswith(start):
        raise Malformed(f"expected {start!r} in the type text at {text!r}")
    return text[len(start):]


ESCAPED_BYTES = re.compile(rb"([^\x00]*(?:\x00\xff[^\x00]*)*)\x00\x00")


class Stray(typing.NamedTuple):
    """A value of another class than its field has."""

    name: str
    value: str


def is_float(number):
    """Whether a binary float has exactly this value."""
    if number in ("NaN", "Infinity", "-Infinity"):
        return True
    exact = fractions.Fraction(number)
    try:
        return fractions.Fraction(float(exact)) == exact
    except OverflowError:
        return False


class Reader:
    """A cursor over bytes; every read is checked."""

    def __init__(self, data):
        self.data = bytes(data)
        self.at = 0

    def take(self, count):
        end = self.at + count
        if end > len(self.data):
            raise Malformed(f"{count} bytes expected at {self.at}, {len(self.data) - self.at} left")
        piece = self.data[self.at:end]
        self.at = end
        return piece

    def unsigned(self, size):
        return int.from_bytes(self.take(size), "big")

    def signed(self, size):
        """iN~: big-endian two's complement with the highest bit flipped."""
        return self.unsigned(size) - (1 << (size * 8 - 1))

    def varint(self):
        value = shift = 0
        while True:
            byte = self.unsigned(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if byte == 0 and shift:
                    raise Malformed("a varint is longer than it must be")
                return value
            shift += 7

    def field(self, kind):
        presence = self.unsigned(1)
        if presence == 0:
            return None
        if presence != 1:
            raise Malformed(f"presence byte {presence:02X}")
        return decode_parsed(kind, self.take(self.varint()))

    def row_field(self, kind):
        """A field of a row, which may hold a stray value (section 9)."""
        if self.data[self.at:self.at + 1] != b"\x02":
            return self.field(kind)
        self.take(1)
        inner = Reader(self.take(self.varint()))
        names = {1: "number", 2: "text", 3: "binary"}
        name = names.get(inner.unsigned(1))
        if name is None:
            raise Malformed("unknown class of a stray value")
        value = decode_parsed((name,), rest(inner))
        if name == kind[0] or (name == "number" and kind[0] == "float" and is_float(value)):
            raise Malformed(f"a stray {name} in a field of type {kind[0]}")
        return Stray(name, value)

    def unescape(self):
        """The bytes up to the terminator 00 00, with 00 FF turned back into 00."""
        match = ESCAPED_BYTES.match(self.data, self.at)
        if not match:
            raise Malformed(f"escaped bytes without an end, or 00 followed by another byte, from {self.at}")
        self.at = match.end()
        return match.group(1).replace(b"\x00\xff", b"\x00")

    def end(self):
        if self.at != len(self.data):
            raise Malformed(f"{len(self.data) - self.at} bytes left over")


# Section 1: values, keys, rows.


def decode_value(type_text, data):
    """The value of the value form `data`."""
    return decode_parsed(parse_type(type_text), data)


def decode_parsed(kind, data):
    reader = Reader(data)
    value = read_value(reader, kind)
    reader.end()
    return value


def decode_key(type_texts, data):
    """The list of values of a key: one for each type, None for NULL."""
    reader = Reader(data)
    values = []
    for text in type_texts:
        presence = reader.unsigned(1)
        if presence > 1:
            raise Malformed(f"presence byte {presence:02X}")
        values.append(read_key_form(reader, parse_type(text)) if presence else None)
    reader.end()
    return values


def decode_row(type_texts, data):
    """The list of values of a row: one for each type, None for NULL."""
    reader = Reader(data)
    values = [reader.row_field(parse_type(text)) for text in type_texts]
    reader.end()
    return values


def read_key_form(reader, kind):
    """The value of a key form, which ends by itself."""
    if kind[0] == "bits":
        packed = reader.unescape()
        return bits_text(reader.unsigned(4), packed)
    if kind[0] in ESCAPED:
        return decode_parsed(kind, reader.unescape())
    return read_value(reader, kind)


def read_value(reader, kind):
    """The value of a value form; types of open length take all that is left."""
    name = kind[0]
    if name in GEOMETRIC:
        return read_geometric(reader, name)
    return READERS[name](reader, kind)


def rest(reader):
    return reader.take(len(reader.data) - reader.at)


def read_boolean(reader, _kind):
    byte = reader.unsigned(1)
    if byte > 1:
        raise Malformed(f"boolean byte {byte:02X}")
    return byte == 1


def utf8(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: {error}") from error


def read_text(reader, _kind):
    return utf8(rest(reader))


def read_binary(reader, _kind):
    return "\\x" + rest(reader).hex()


def bits_text(count, packed):
    if len(packed) != (count + 7) // 8:
        raise Malformed(f"{count} bits in {len(packed)} bytes")
    text = "".join(f"{byte:08b}" for byte in packed)
    if "1" in text[count:]:
        raise Malformed("bits after the last one are not zero")
    return text[:count]


def read_bits(reader, _kind):
    count = reader.unsigned(4)
    return bits_text(count, rest(reader))


# Section 3: numbers.

# Exponents reach 2^32: written out, one number would fill the memory.
PLAIN_ZEROS = 1000


def read_number(reader, _kind=None):
    first = reader.unsigned(1)
    special = {0xFF: "NaN", 0xFE: "Infinity", 0x01: "-Infinity", 0x80: "0"}
    if first in special:
        return special[first]
    negative = first < 0x80
    flip = 0xFF if negative else 0
    header = first ^ flip
    if 0x82 <= header <= 0xDD:
        exponent = header - 0xA1
    elif header in (0x81, 0xDE):
        exponent = int.from_bytes(bytes(b ^ flip for b in reader.take(4)), "big") - (1 << 31)
        if (header == 0x81) != (exponent < -31) or (header == 0xDE) != (exponent > 60):
            raise Malformed(f"exponent {exponent} under header {header:02X}")
    else:
        raise Malformed(f"number header {header:02X}")
    end = reader.data.find(flip, reader.at)
    if end < 0:
        raise Malformed("a number without an end")
    digits = [(byte ^ flip) - 1 for byte in reader.take(end - reader.at)]
    reader.take(1)
    if any(digit > 99 for digit in digits):
        raise Malformed(f"base-100 digit byte {max(digits) + 1:02X}")
    if not digits or digits[0] == 0 or digits[-1] == 0:
        raise Malformed("a number without digits, or with a zero digit at an end")
    return ("-" if negative else "") + plain_decimal(digits, exponent)


def plain_decimal(digits, exponent):
    """0.d1 d2 ... x 100^exponent as plain digits, no zeros that say nothing; beyond PLAIN_ZEROS zeros as 123E-4567."""
    text = "".join(f"{d:02d}" for d in digits)
    point = 2 * exponent
    if point < -PLAIN_ZEROS or point - len(text) > PLAIN_ZEROS:
        shown = text.rstrip("0")
        return f"{shown.lstrip('0')}E{point - len(shown)}"
    if point <= 0:
        whole, fraction = "", "0" * -point + text
    elif point >= len(text):
        whole, fraction = text + "0" * (point - len(text)), ""
    else:
        whole, fraction = text[:point], text[point:]
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


# Section 4: floats.


def read_float(reader, _kind=None):
    word = reader.unsigned(8)
    word ^= (1 << 63) if word >> 63 else (1 << 64) - 1
    if word == 1 << 63:
        raise Malformed("negative zero")
    value = struct.unpack(">d", struct.pack(">Q", word))[0]
    if value != value and word != 0x7FF8000000000000:
        raise Malformed(f"a NaN other than the one: {word:016X}")
    return value


# Section 5: dates and timestamps.


def days_in_month(year, month):
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def days_from_civil(year, month, day):
    """Days since 1970-01-01, proleptic Gregorian, year 0 is 1 BC: whole years counted, then months."""
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400
    days += sum(days_in_month(year, m) for m in range(1, month)) + day - 1
    return days - 719162


def civil_from_days(days):
    year = 1970 + days * 400 // 146097
    while days_from_civil(year + 1, 1, 1) <= days:
        year += 1
    while days_from_civil(year, 1, 1) > days:
        year -= 1
    left = days - days_from_civil(year, 1, 1)
    month = 1
    while left >= days_in_month(year, month):
        left -= days_in_month(year, month)
        month += 1
    return year, month, left + 1


def date_text(year, month, day):
    """(text, era): BC years count from 1, so astronomical year 0 is 1 BC. A zero date keeps its year 0000."""
    if year < 0 or (year == 0 and month and day):
        return f"{1 - year:04d}-{month:02d}-{day:02d}", " BC"
    return f"{year:04d}-{month:02d}-{day:02d}", ""


def read_date(reader, _kind=None):
    data = reader.take(6)
    if data == b"\x00" * 6:
        return "-infinity"
    if data == b"\xff" * 6:
        return "infinity"
    inner = Reader(data)
    year, month, day = inner.signed(4), inner.unsigned(1), inner.unsigned(1)
    # A partial date has no month, so that no length of a month holds for its day.
    if month > 12 or day > (days_in_month(year, month) if month else 31):
        raise Malformed(f"month {month}, day {day}")
    text, era = date_text(year, month, day)
    return text + era


def clock_text(nanos):
    """HH:MM:SS[.frac]; hours may pass 24, and a minus leads a negative time."""
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    seconds, nanos = divmod(nanos, NANOS_A_SECOND)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


def offset_text(offset):
    """+HH[:MM[:SS]], east positive."""
    sign, offset = ("-", -offset) if offset < 0 else ("+", offset)
    text = f"{sign}{offset // 3600:02d}"
    if offset % 3600:
        text += f":{offset // 60 % 60:02d}"
    if offset % 60:
        text += f":{offset % 60:02d}"
    return text


def moment_text(seconds, nanos, zone=""):
    days, second = divmod(seconds, SECONDS_A_DAY)
    text, era = date_text(*civil_from_days(days))
    return f"{text} {clock_text(second * NANOS_A_SECOND + nanos)}{zone}{era}"


def read_time(reader, _kind):
    return clock_text(reader.signed(8))


def read_timetz(reader, _kind):
    nanos = reader.signed(8)
    return clock_text(nanos) + offset_text(reader.signed(4))


def read_moment(reader):
    """(seconds, nanos), or the text of an infinity."""
    data = reader.take(12)
    if data == b"\x00" * 12:
        return "-infinity"
    if data == b"\xff" * 12:
        return "infinity"
    inner = Reader(data)
    return inner.signed(8), inner.unsigned(4)


def read_timestamp(reader, _kind=None):
    moment = read_moment(reader)
    if isinstance(moment, str):
        return moment
    seconds, nanos = moment
    if nanos == 0x40000000:
        return partial_timestamp(reader, seconds)
    if nanos >= NANOS_A_SECOND:
        raise Malformed(f"{nanos} nanoseconds")
    return moment_text(seconds, nanos)


def partial_timestamp(reader, before):
    """The 22-byte form: a month or a day is 0."""
    days, second = divmod(before + 1, SECONDS_A_DAY)
    year, real_month, real_day = civil_from_days(days)
    month, day, nanos = reader.unsigned(1), reader.unsigned(1), reader.unsigned(8)
    if month and day:
        raise Malformed("the form of a partial timestamp, but neither month nor day is 0")
    if second or (real_month, real_day) != (max(month, 1), 1):
        raise Malformed("a partial timestamp at another moment than its month and day say")
    text, era = date_text(year, month, day)
    return f"{text} {clock_text(nanos)}{era}"


def read_instant(reader, _kind=None):
    moment = read_moment(reader)
    if isinstance(moment, str):
        return moment
    if moment[1] >= NANOS_A_SECOND:
        raise Malformed(f"{moment[1]} nanoseconds")
    return moment_text(*moment, "+00")


def read_offset_instant(reader, _kind):
    """The local time at the offset, and the offset."""
    moment = read_moment(reader)
    offset = reader.signed(4)
    if isinstance(moment, str):
        return moment
    if moment[1] >= NANOS_A_SECOND:
        raise Malformed(f"{moment[1]} nanoseconds")
    return moment_text(moment[0] + offset, moment[1], offset_text(offset))


def read_interval(reader, _kind):
    return {"months": reader.signed(4), "days": reader.signed(4), "microseconds": reader.signed(8)}


def read_uuid(reader, _kind):
    text = reader.take(16).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def read_inet(reader, _kind):
    family = reader.unsigned(1)
    if family not in (4, 6):
        raise Malformed(f"address family {family}")
    address = reader.take(4 if family == 4 else 16)
    prefix = reader.unsigned(1)
    if prefix > len(address) * 8:
        raise Malformed(f"prefix length {prefix}")
    return f"{ipaddress.ip_address(address)}/{prefix}"


def read_mac(reader, kind):
    return reader.take(6 if kind[0] == "mac address" else 8).hex(":")


# Section 6: JSON. Numbers stay text, in a class of their own so that "1" and 1 differ.


class JsonNumber(str):
    """A JSON number by its canonical digits."""

    def __eq__(self, other):
        return isinstance(other, JsonNumber) and str.__eq__(self, other)

    __hash__ = str.__hash__


def read_json(reader, _kind=None):
    tag = reader.unsigned(1)
    if tag < 3:
        return (None, False, True)[tag]
    if tag == 3:
        number = read_number(reader)
        if number in ("NaN", "Infinity", "-Infinity"):
            raise Malformed(f"{number} in JSON")
        return JsonNumber(number)
    if tag == 4:
        return read_string(reader)
    if tag == 5:
        return [read_json(reader) for _ in range(reader.varint())]
    if tag != 6:
        raise Malformed(f"JSON tag {tag:02X}")
    members, last = {}, None
    for _ in range(reader.varint()):
        name = read_string(reader)
        if last is not None and name.encode("utf-8") <= last:
            raise Malformed("JSON members are not in order")
        last = name.encode("utf-8")
        members[name] = read_json(reader)
    return members


def read_string(reader):
    return utf8(reader.take(reader.varint()))


# Section 7: composed values.


def read_geometric(reader, name):
    counts = {"point": 2, "line": 3, "lseg": 4, "box": 4, "circle": 3}
    if name in counts:
        return {name: [read_float(reader) for _ in range(counts[name])]}
    figure = {}
    if name == "path":
        closed = reader.unsigned(1)
        if closed > 1:
            raise Malformed(f"path byte {closed:02X}")
        figure["closed"] = closed == 1
    figure[name] = [[read_float(reader), read_float(reader)] for _ in range(reader.unsigned(4))]
    return figure


def read_list(reader, kind):
    """{"dimensions": [[length, lower bound], ...], "elements": [...]} in row-major order."""
    dimensions = [[reader.unsigned(4), reader.signed(4)] for _ in range(reader.unsigned(1))]
    count = 1 if dimensions else 0
    for length, _lower in dimensions:
        if length == 0:
            raise Malformed("an empty list has no dimensions")
        count *= length
    return {"dimensions": dimensions, "elements": [reader.field(kind[1]) for _ in range(count)]}


def read_struct(reader, kind):
    return {name: reader.field(inner) for name, inner in kind[1]}


def read_map(reader, kind):
    """A list of [key, value] in the order of the bytes of the key's field."""
    entries, last = [], None
    for _ in range(reader.unsigned(4)):
        start = reader.at
        key = reader.field(kind[1])
        raw = reader.data[start:reader.at]
        if last is not None and raw <= last:
            raise Malformed("map entries are not in order")
        last = raw
        entries.append([key, reader.field(kind[2])])
    return entries


def read_range(reader, kind):
    """"empty", or {"lower", "upper" (None: unbounded), "lower_included", "upper_included"}."""
    flags = reader.unsigned(1)
    if flags == 0:
        return "empty"
    if not flags & 1 or flags > 0x1F or (flags & 0x02 and flags & 0x08) or (flags & 0x04 and flags & 0x10):
        raise Malformed(f"range flags {flags:02X}")

    def bound(absent):
        return None if flags & absent else decode_parsed(kind[1], reader.take(reader.varint()))

    lower = bound(0x02)
    return {"lower": lower, "upper": bound(0x04), "lower_included": bool(flags & 0x08),
            "upper_included": bool(flags & 0x10)}


def read_multirange(reader, kind):
    return [decode_parsed(("range", kind[1]), reader.take(reader.varint())) for _ in range(reader.unsigned(4))]


READERS = {
    "boolean": read_boolean, "number": read_number, "float": read_float, "text": read_text, "binary": read_binary,
    "bits": read_bits, "date": read_date, "time": read_time, "time with zone": read_timetz,
    "timestamp": read_timestamp, "instant": read_instant, "offset instant": read_offset_instant,
    "interval": read_interval, "uuid": read_uuid, "json": read_json, "inet": read_inet, "mac address": read_mac,
    "mac address (8 bytes)": read_mac, "list": read_list, "struct": read_struct, "map": read_map,
    "range": read_range, "multirange": read_multirange,
}


# Text.


def float_text(value):
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def canonical_text(type_text, value):
    """The text of a value: plain for scalars, JSON with sorted names for json and composed values."""
    kind = parse_type(type_text)
    if value is None and kind[0] != "json":
        return None
    if kind[0] == "boolean":
        return "true" if value else "false"
    if kind[0] == "float":
        return float_text(value)
    if isinstance(value, str) and kind[0] != "json":
        return value
    return json_text(value)


def json_text(value):
    """JSON in one spelling: names by their UTF-8 bytes, no blanks, numbers by their canonical digits."""
    if isinstance(value, JsonNumber):
        return str.__str__(value)
    if isinstance(value, float):
        return json.dumps(float_text(value))
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda item: item[0].encode("utf-8"))
        return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{json_text(v)}" for k, v in members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(json_text(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)
