"""Checks golden vectors with the independent decoder: check_vectors.py FILE.

Each vector: {"type", "value": canonical text or null, "value_hex", "key_hex", "digest"}. The value form and the key
form must decode to the value, and the digest must be BLAKE2b-256 of the value form. Prints each failure and
`N passed, M failed`; exits with 1 when any failed or when there is no vector.
"""

import hashlib
import json
import re
import struct
import sys

from decoder import (GEOMETRIC, JsonNumber, Malformed, Stray, canonical_text, decode_key, decode_row, decode_value, float_text, json_text,
                     parse_type)


def float_bits(text):
    value = float(text)
    return "NaN" if value != value else struct.pack(">d", value + 0.0).hex()


def plain_number(text):
    """A JSON number's text in canonical digits, by moving the point: no arithmetic on the value."""
    mantissa, _, exponent = text.lower().partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa.lstrip("+"))
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    digits, point = "0" * max(0, -point) + digits, max(0, point)
    digits += "0" * max(0, point - len(digits))
    whole, fraction = digits[:point].lstrip("0") or "0", digits[point:].rstrip("0")
    plain = f"{whole}.{fraction}" if fraction else whole
    return "0" if plain == "0" else sign + plain


def number_parts(text):
    """(negative, digits, exponent of the last digit) of a number's text, or the text of a special value."""
    match = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?", text)
    if not match:
        return text
    sign, whole, fraction, exponent = match.groups()
    fraction = fraction or ""
    digits = (whole + fraction).lstrip("0")
    kept = digits.rstrip("0")
    return (sign == "-", kept, int(exponent or 0) - len(fraction) + len(digits) - len(kept)) if kept else "0"


def interval_parts(text):
    """{"months", "days", "microseconds"} of an interval in the style of PostgreSQL."""
    match = re.fullmatch(r"(?:([+-]?\d+) years? ?)?(?:([+-]?\d+) mons? ?)?(?:([+-]?\d+) days? ?)?"
                         r"(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?", text)
    if not match:
        return None
    years, months, days, sign, hour, minute, second, fraction = match.groups()
    micros = ((int(hour or 0) * 60 + int(minute or 0)) * 60 + int(second or 0)) * 1_000_000
    micros += int((fraction or "0").ljust(6, "0"))
    return {"months": int(years or 0) * 12 + int(months or 0), "days": int(days or 0),
            "microseconds": -micros if sign == "-" else micros}


def structure(value):
    """The one spelling of a JSON text that comes from outside."""
    def number(text):
        return JsonNumber(plain_number(text))
    return json_text(json.loads(value, parse_int=number, parse_float=number))


def short(kind, value):
    """The short text of a composed value: brackets for ranges, JSON for the rest."""
    name = kind[0]
    if value is None and name != "json":
        return "null"
    if name == "number":
        return value
    if name in GEOMETRIC:
        return figure(name, value)
    if name == "list":
        dims, rest = value["dimensions"], [short(kind[1], v) for v in value["elements"]]
        for length, _lower in reversed(dims):
            rest = ["[" + ",".join(rest[i:i + length]) + "]" for i in range(0, len(rest), length)]
        lead = "".join(f"[{low}:{low + size - 1}]" for size, low in dims) + "="
        return (lead if any(low != 1 for _, low in dims) else "") + (rest[0] if dims else "[]")
    if name == "struct":
        return "{" + ",".join(f"{json_text(n)}:{short(k, value[n])}" for n, k in kind[1]) + "}"
    if name == "map":
        return "{" + ",".join(f"{short(kind[1], k)}:{short(kind[2], v)}" for k, v in value) + "}"
    if name == "range":
        if value == "empty":
            return value
        ends = ["" if value[e] is None else short(kind[1], value[e]).strip('"') for e in ("lower", "upper")]
        ends = [f'"{end}"' if " " in end else end for end in ends]
        return "(["[value["lower_included"]] + ",".join(ends) + ")]"[value["upper_included"]]
    if name == "multirange":
        return "{" + ",".join(short(("range", kind[1]), v) for v in value) + "}"
    return json_text(value)


def figure(name, value):
    """A figure in the brackets of PostgreSQL."""
    flat = value[name] if name not in ("path", "polygon") else [x for point in value[name] for x in point]
    texts = [float_text(x).removesuffix(".0") for x in flat]
    points = ",".join(f"({texts[i]},{texts[i + 1]})" for i in range(0, len(texts) - 1, 2))
    if name == "line":
        return "{" + ",".join(texts) + "}"
    if name == "circle":
        return f"<{points},{texts[2]}>"
    if name in ("point", "box"):
        return points
    return f"[{points}]" if name == "lseg" or not value.get("closed", True) else f"({points})"


def same_value(kind, expected, value):
    """Whether the decoded value has the expected text in either spelling."""
    if same(kind, expected, canonical_text(kind, value)):
        return True
    parsed = parse_type(kind)
    if parsed[0] == "interval" and expected is not None:
        return value == interval_parts(expected)
    return parsed[0] in ("list", "struct", "map", "range", "multirange", *GEOMETRIC) and expected == short(parsed, value)


def same(kind, expected, found):
    if expected is None or found is None:
        return expected == found
    if kind == "float":
        return float_bits(expected) == float_bits(found)
    if kind == "number":
        return number_parts(expected) == number_parts(found)
    if expected == found:
        return True
    if parse_type(kind)[0] in ("json", "list", "struct", "map", "range", "multirange", "interval"):
        try:
            return structure(expected) == structure(found)
        except ValueError:
            return False
    return False


def check(vector):
    """The complaints about one vector."""
    kind, expected = vector["type"], vector["value"]
    complaints = []
    if "stray" in vector:
        (found,) = decode_row([kind], bytes.fromhex(vector["field_hex"]))
        if not isinstance(found, Stray) or found.name != vector["stray"]:
            return ["not a stray value of its class"]
        if not same_value(found.name, expected, found.value):
            return [f"stray value gives {found.value!r}"]
        return []
    if vector.get("value_hex") is not None:
        data = bytes.fromhex(vector["value_hex"])
        value = decode_value(kind, data)
        found = canonical_text(kind, value)
        if not same_value(kind, expected, value):
            complaints.append(f"value form gives {found!r}")
        if vector.get("digest") is None or hashlib.blake2b(data, digest_size=32).hexdigest() != vector["digest"].lower():
            complaints.append("digest is not BLAKE2b-256 of the value form")
    elif expected is not None:
        complaints.append("a value, but no value form")
    if vector.get("key_hex") is not None:
        (decoded,) = decode_key([kind], bytes.fromhex(vector["key_hex"]))
        # NULL, which a JSON null is not.
        null = bytes.fromhex(vector["key_hex"])[:1] == b"\x00"
        found = None if null else canonical_text(kind, decoded)
        if (expected is None) != null or not (null or same_value(kind, expected, decoded)):
            complaints.append(f"key form gives {found!r}")
    return complaints


def main(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    failed = 0
    for number, vector in enumerate(vectors):
        try:
            complaints = check(vector)
        except (Malformed, KeyError, ValueError) as error:
            complaints = [f"{type(error).__name__}: {error}"]
        if complaints:
            failed += 1
            print(f"vector {number}, {vector.get('type')} {vector.get('value')!r}: {'; '.join(complaints)}")
    print(f"{len(vectors) - failed} passed, {failed} failed")
    return 0 if vectors and not failed else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: check_vectors.py FILE")
    sys.exit(main(sys.argv[1]))
