"""The decoder against literal bytes worked out by hand from docs/encoding.md (python -m unittest)."""

import unittest

import decoder
from decoder import Malformed, canonical_text, decode_key, decode_row, decode_value


def value(kind, text):
    return canonical_text(kind, decode_value(kind, bytes.fromhex(text)))


class Values(unittest.TestCase):
    def test_scalars(self):
        cases = [
            ("boolean", "01", "true"),
            ("number", "80", "0"), ("number", "A2 02 00", "1"), ("number", "5D FD FF", "-1"),
            ("number", "A2 06 33 00", "5.5"), ("number", "A0 33 00", "0.005"), ("number", "A5 02 00", "1000000"),
            ("number", "A1 33 00", "0.5"), ("number", "81 7FFFFFE0 02 00", "0." + "0" * 65 + "1"),
            ("number", "FF", "NaN"), ("number", "FE", "Infinity"), ("number", "01", "-Infinity"),
            ("number", "DE 8000003D 02 00", "1" + "0" * 120), ("number", "21 7FFFFFC2 FD FF", "-1" + "0" * 120),
            ("float", "8000000000000000", "0.0"), ("float", "BFF0000000000000", "1.0"),
            ("float", "400FFFFFFFFFFFFF", "-1.0"), ("float", "FFF8000000000000", "NaN"),
            ("float", "FFF0000000000000", "Infinity"), ("float", "000FFFFFFFFFFFFF", "-Infinity"),
            ("text", "61C3A9", "a\u00e9"), ("binary", "00ff", "\\x00ff"), ("bits", "0000000A FFC0", "1111111111"),
            ("date", "800007B2 01 01", "1970-01-01"), ("date", "80000000 00 00", "0000-00-00"),
            ("date", "7FFFFFD5 03 0F", "0044-03-15 BC"), ("date", "80000000 01 01", "0001-01-01 BC"),
            ("date", "FFFFFFFFFFFF", "infinity"), ("date", "000000000000", "-infinity"),
            ("time", "80004E94914F0000", "24:00:00"),
            ("timestamp", "8000000000000000 00000000", "1970-01-01 00:00:00"),
            ("timestamp", "7FFFFFFFFFFFFFFF 3B9AC9FF", "1969-12-31 23:59:59.999999999"),
            ("instant", "8000000000000001 00000001", "1970-01-01 00:00:01.000000001+00"),
            ("offset instant", "8000000000000000 00000000 80001518", "1970-01-01 01:30:00+01:30"),
            ("interval", "80000001 7FFFFFFF 8000000000000005", '{"days":-1,"microseconds":5,"months":1}'),
            ("uuid", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"),
            ("inet", "04 7F000001 20", "127.0.0.1/32"), ("mac address", "0800 2b01 0203", "08:00:2b:01:02:03"),
            ("json", "06 02 01 61 05 02 00 02 01 62 03 A2 02 00", '{"a":[null,true],"b":1}'),
        ]
        for kind, text, expected in cases:
            with self.subTest(kind=kind, text=text):
                self.assertEqual(value(kind, text), expected)

    def test_partial_timestamp(self):
        # Year 0 starts 719528 days before 1970: one second less is -62167219201.
        self.assertEqual(value("timestamp", "7FFFFFF1 868B83FF 40000000 00 00 0000000000000000"), "0000-00-00 00:00:00")

    def test_composed(self):
        self.assertEqual(value("list<number>", "01 00000002 80000001 01 03 A20200 00"),
                         '{"dimensions":[[2,1]],"elements":["1",null]}')
        self.assertEqual(value("list<text>", "00"), '{"dimensions":[],"elements":[]}')
        self.assertEqual(value("struct<b: text, a: number>", "01 01 80 00"), '{"a":"0","b":null}')
        self.assertEqual(value("map<text, number>", "00000001 01 01 61 01 01 80"), '[["a","0"]]')
        self.assertEqual(value("range<number>", "0D 01 80"),
                         '{"lower":"0","lower_included":true,"upper":null,"upper_included":false}')
        self.assertEqual(value("multirange<number>", "00000001 03 0D 01 80")[:13], '[{"lower":"0"')

    def test_types(self):
        self.assertEqual(decoder.parse_type("struct<a: list<mac address (8 bytes)>, b: map<time with zone, time>>"),
                         ("struct", (("a", ("list", ("mac address (8 bytes)",))),
                                     ("b", ("map", ("time with zone",), ("time",))))))

    def test_keys_and_rows(self):
        self.assertEqual(decode_key(["number", "text", "bits"], bytes.fromhex("01A20200 016100FF0000 01A00000 00000003")),
                         ["1", "a\0", "101"])
        self.assertEqual(decode_key(["text", "text"], bytes.fromhex("00 010000")), [None, ""])
        self.assertEqual(decode_row(["number", "text"], bytes.fromhex("0103A20200 00")), ["1", None])

    def test_stray_values(self):
        row = decode_row(["number", "text", "float", "binary"], bytes.fromhex(
            "02 04 02 61 62 63  02 04 01 A2 0D 00  02 0B 01 A9 5B 08 14 5D 37 4B 0A 5E 00  02 01 02"))
        self.assertEqual(row, [("text", "abc"), ("number", "12"), ("number", "9007199254740993"), ("text", "")])
        for kind, text in [("number", "02 04 01 A2 0D 00"), ("float", "02 04 01 A2 0D 00"), ("text", "02 02 02 61"),
                           ("binary", "02 02 03 61"), ("text", "02 01 04"), ("text", "02 00"), ("text", "03 01 61"),
                           ("list<number>", "01 0D 01 00000001 80000001 02 02 02 61")]:
            with self.subTest(kind=kind, text=text), self.assertRaises(Malformed):
                decode_row([kind], bytes.fromhex(text))

    def test_malformed(self):
        cases = [("boolean", "02"), ("number", "A2 02"), ("number", "A2 02 01 00"), ("number", "A2 66 00"),
                 ("number", "81 80000000 02 00"), ("float", "7FFFFFFFFFFFFFFF"), ("date", "800007B2 02 1E"),
                 ("text", "FF"), ("bits", "00000001 C0"), ("uuid", "00"), ("json", "06 02 01 62 00 01 61 00"),
                 ("timestamp", "8000000000000000 3B9ACA00"), ("number", "80 80")]
        for kind, text in cases:
            with self.subTest(kind=kind, text=text), self.assertRaises(Malformed):
                decode_value(kind, bytes.fromhex(text))


if __name__ == "__main__":
    unittest.main()
