"""Reads every column type from the test TDS server by python-tds: check_tds.py PORT [CAFILE].

The server has the table `every_type` with four rows: values, NULLs, other values, NULLs. The values are written here a
second time, as Python has them; times end at microseconds and `datetime` at milliseconds, as python-tds gives them.
Prints `N passed, M failed` and exits with 1 when any failed.
"""

import datetime as dt
import struct
import sys
import uuid
from decimal import Decimal

import pytds
from pytds.tz import FixedOffsetTimezone

LONG = "0123456789" * 900
LONG_BYTES = bytes(index % 251 for index in range(9000))
NINES = "9999999999999999999999999999.9999999999"

EXPECTED = [
    ("c_bit", True, False),
    ("c_tinyint", 255, 0),
    ("c_smallint", -32768, 32767),
    ("c_int", -2147483648, 7),
    ("c_bigint", -9223372036854775808, 9223372036854775807),
    ("c_real", 1.5, -0.0),
    ("c_float", 0.1, sys.float_info.max),
    ("c_money", Decimal("-1234.5600"), Decimal("109951162.7776")),
    ("c_smallmoney", Decimal("-1.5000"), Decimal("2.5000")),
    ("c_decimal", Decimal(NINES), Decimal("-" + NINES)),
    ("c_numeric", Decimal("-2.58"), Decimal("0.00")),
    ("c_date", dt.date(9999, 12, 31), dt.date(1, 1, 1)),
    ("c_time7", dt.time(23, 59, 59, 999999), dt.time(0)),
    ("c_time3", dt.time(12, 0, 0, 1000), dt.time(0, 0, 0, 1000)),
    ("c_time0", dt.time(23, 59, 59), dt.time(0, 1)),
    ("c_datetime", dt.datetime(1753, 1, 1, 23, 59, 59, 997000), dt.datetime(1900, 1, 2, 0, 0, 1)),
    ("c_smalldatetime", dt.datetime(2079, 6, 6, 23, 59), dt.datetime(1900, 1, 1)),
    ("c_datetime2_7", dt.datetime(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(1, 1, 1)),
    ("c_datetime2_0", dt.datetime(2021, 7, 30, 23, 59, 59), dt.datetime(2021, 7, 30)),
    (
        "c_datetimeoffset",
        dt.datetime(2021, 7, 29, 10, 0, 0, 123456, FixedOffsetTimezone(-840)),
        dt.datetime(2021, 7, 30, 5, 30, 0, 0, FixedOffsetTimezone(330)),
    ),
    ("c_char", "ab\u00e4  ", "     "),
    ("c_varchar", "\u20ac", ""),
    ("c_varchar_max", LONG, ""),
    ("c_nchar", "a\u00e9\u20ac", "   "),
    ("c_nvarchar", "\U0001f600x", ""),
    ("c_nvarchar_max", LONG, ""),
    ("c_text", "t\u00e4", ""),
    ("c_ntext", "n\U0001f600", ""),
    ("c_xml", "<a>\u20ac</a>", "<b/>"),
    ("c_binary", b"\x00\x01\xfe\xff", b"\x00\x00\x00\x00"),
    ("c_varbinary", b"\x01\x02\x03", b""),
    ("c_varbinary_max", LONG_BYTES, b""),
    ("c_image", b"\x09\x08\x07", b""),
    ("c_guid", uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), uuid.UUID(int=2**128 - 1)),
    ("c_hierarchyid", b"\x58", b"\x5a\xc0"),
]


def same(expected, value):
    """Equal, of the same type, with the same sign of zero and offset. (python-tds drops zeros at a decimal's end.)"""
    if isinstance(expected, float):
        return isinstance(value, float) and struct.pack(">d", expected) == struct.pack(">d", value)
    if isinstance(expected, bool):
        return value is expected or (isinstance(value, int) and value == int(expected))
    if isinstance(expected, Decimal):
        return isinstance(value, Decimal) and expected == value
    if isinstance(expected, dt.datetime) and expected.tzinfo:
        return expected == value and expected.utcoffset() == value.utcoffset()
    return type(expected) is type(value) and expected == value


def main(port, authority=None):
    options = {"cafile": authority, "validate_host": False} if authority else {}
    connection = pytds.connect(
        "127.0.0.1", "base", "u", "p", port=int(port), autocommit=True, timeout=30, login_timeout=30, **options
    )
    passed, failures = 0, []
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM every_type")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
    if names != [name for name, *_ in EXPECTED] or len(rows) != 4:
        failures.append(f"{len(rows)} rows of {names}")
    for row, pick in zip(rows, (1, None, 2, None)):
        for entry, value in zip(EXPECTED, row):
            expected = entry[pick] if pick else None
            if value is None if expected is None else same(expected, value):
                passed += 1
            else:
                failures.append(f"{entry[0]}: expected {expected!r:.80}, read {value!r:.80}")
    for failure in failures:
        print(failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: check_tds.py PORT [CAFILE]")
    sys.exit(main(*sys.argv[1:]))
