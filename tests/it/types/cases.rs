//! The types, what they are compared as, their extreme values, and an SQL expression that makes a random one.

/// One column of the table of all types.
pub(super) struct TypeCase {
    pub(super) name: &'static str,
    /// The type as SQL declares it.
    pub(super) sql: &'static str,
    /// How the server writes it, as `check_types.py` names it.
    pub(super) shape: &'static str,
    /// What it is compared as.
    pub(super) canonical: &'static str,
    /// Values that come first, as text.
    pub(super) extremes: &'static [&'static str],
    pub(super) random: &'static str,
}

const fn case(
    name: &'static str,
    sql: &'static str,
    shape: &'static str,
    canonical: &'static str,
    extremes: &'static [&'static str],
    random: &'static str,
) -> TypeCase {
    TypeCase { name, sql, shape, canonical, extremes, random }
}

const PAIR: &str = r#"["composite", [["z", "number"], ["a", "text"]]]"#;

#[rustfmt::skip]
pub(super) const CASES: &[TypeCase] = &[
    // Numbers.
    case("i2", "int2", "number", "number", &["-32768", "32767", "0", "-1", "100", "10000"], "r_int2()"),
    case("i4", "int4", "number", "number", &["-2147483648", "2147483647", "0", "-1", "99", "100", "101"], "r_int4()"),
    case("i8", "int8", "number", "number", &["-9223372036854775808", "9223372036854775807", "0", "-100", "1000000000000000000"], "r_int8()"),
    case("o", "oid", "number", "number", &["0", "4294967295", "2147483648"], "r_int4()::oid"),
    case("n", "numeric", "number", "number",
        &["NaN", "Infinity", "-Infinity", "0", "-0.000", "1e131071", "-1e131071", "1e-16383", "-1e-16383", "10", "0.1", "0.01", "0.001", "1e60",
          "1e120", "1e122", "-1e124", "1e-60", "1e-62", "-1e-64", "9999", "10000", "99999999", "0.00010000", "123456789.987654321"], "r_numeric()"),
    case("nd", "numeric(12,2)", "number", "number", &["NaN", "9999999999.99", "-9999999999.99", "0.00", "-0.01"], "(r_int4() / 100.0)::numeric(12,2)"),
    case("ns", "numeric(5,-3)", "number", "number", &["99999000", "-500", "499"], "(r_int4() % 90000000)::numeric(5,-3)"),
    case("m", "money", "money", "number", &["-92233720368547758.08", "92233720368547758.07", "0", "-0.01", "1,234.50"], "(r_int8() / 100.0)::numeric::money"),
    case("f4", "float4", "float4", "float", &["NaN", "Infinity", "-Infinity", "-0", "3.4028235e38", "-3.4028235e38", "1e-45", "1.1754944e-38", "0.1"], "r_float4()"),
    case("f8", "float8", "float8", "float",
        &["NaN", "Infinity", "-Infinity", "-0", "1.7976931348623157e308", "-5e-324", "2.2250738585072014e-308", "0.1", "1e23", "9007199254740993"], "r_float8()"),
    case("b", "bool", "bool", "boolean", &["true", "false"], "r(2) = 0"),
    // Text.
    case("t", "text", "text", "text", &["", " ", "NULL", "\u{1F600}", "\u{FEFF}x", "e\u{301}", "trailing  "], "r_text()"),
    case("vc", "varchar(20)", "text", "text", &["", "ab  ", "  "], "r_text()"),
    case("bc", "char(12)", "text", "text", &["", "ab  ", " x", "\u{E9}\t "], "r_text()"),
    case("nm", "name", "text", "text", &["", "pg_class"], "r_text()::name"),
    case("ch", "\"char\"", "text", "text", &["", "a", "~", " ", "\""], "chr(1 + r(127))::\"char\""),
    case("ci", "citext", "text", "text", &["", "ABC", "abc"], "r_text()::citext"),
    case("e", "mood", "text", "text", &["sad", "", "O'Brien \"x\""], "(enum_range(NULL::mood))[1 + r(4)]"),
    case("x", "xml", "text", "text", &["<a b=\"1\"/>", "", "text &amp; <b/>"], "xmlelement(name a, xmlattributes(r_hex(4) AS b), r_hex(r(20)))"),
    case("tv", "tsvector", "text", "text", &["", "'a':1A,2B 'b c':3"], "to_tsvector('simple', r_text() || ' ' || r_hex(5))"),
    case("tq", "tsquery", "text", "text", &["", "'a' & !('b' | 'c':*AB)"], "plainto_tsquery('simple', r_hex(4) || ' ' || r_hex(5))"),
    // Bytes and bits.
    case("by", "bytea", "bytea", "binary", &["", "\\x00", "\\x0000ff00", "\\xff"], "r_bytea()"),
    case("bi", "bit(9)", "bits", "bits", &["000000000", "111111111", "100000000"], "r_bits(9)::bit(9)"),
    case("vb", "varbit", "bits", "bits", &["", "0", "1", "00000000", "000000001"], "r_bits(0)"),
    // Times.
    case("d", "date", "date", "date", &["infinity", "-infinity", "4713-11-24 BC", "5874897-12-31", "0001-12-31 BC", "0001-01-01", "1900-02-28", "2000-02-29", "1970-01-01"], "r_date()"),
    case("ti", "time", "time", "time", &["00:00:00", "24:00:00", "23:59:59.999999", "00:00:00.000001"], "r_time()"),
    case("tz", "timetz", "timetz", "time with zone", &["00:00:00+00", "24:00:00-15:59:59", "10:00+05:30", "10:00+15:59"], "r_timetz()"),
    case("ts", "timestamp", "timestamp", "timestamp",
        &["infinity", "-infinity", "4713-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999", "0001-12-31 23:59:59.5 BC"], "r_timestamp()"),
    case("tt", "timestamptz", "timestamptz", "instant",
        &["infinity", "-infinity", "4713-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00", "1999-12-31 23:59:59.999999+00"], "r_timestamp() AT TIME ZONE 'UTC'"),
    case("iv", "interval", "interval", "interval",
        &["178000000 years", "-178000000 years", "-2147483648 months -2147483648 days", "2147483647 days", "2562047788:00:54.775807", "-2562047788:00:54.775807",
          "1 mon -30 days 24:00:00", "0", "-00:00:00.000001", "1 year -1 mon"], "r_interval()"),
    // Addresses and identifiers.
    case("u", "uuid", "uuid", "uuid", &["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"], "r_hex(32)::uuid"),
    case("ip", "inet", "inet", "inet", &["0.0.0.0/0", "255.255.255.255", "10.1.2.3/8", "::/0", "::ffff:1.2.3.4", "fe80::1/64"], "r_inet()"),
    case("cd", "cidr", "inet", "inet", &["0.0.0.0/0", "10.0.0.0/8", "::/0", "2001:db8::/32"], "network(r_inet())"),
    case("mc", "macaddr", "mac", "mac address", &["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"], "r_hex(12)::macaddr"),
    case("m8", "macaddr8", "mac", "mac address (8 bytes)", &["00:00:00:00:00:00:00:00", "08:00:2b:01:02:03"], "r_hex(16)::macaddr8"),
    // Documents.
    case("js", "json", "json", "json",
        &["null", "{}", "[]", "\"\"", "-0", "0.0e5", " { \"b\" : 1.0, \"a\" : [ 1e2, true ], \"b\" : 2 } ", "\"\\u00e9\\ud83d\\ude00\\\\\\/\"", "123456789012345678901234567890.5"], "r_json()::json"),
    case("jb", "jsonb", "json", "json", &["null", "{}", "[]", "\"\"", "-0", "[[[]]]", "1e100", "{\"\": null, \"b\": \"x\", \"a\": -1.50}"], "r_json()::jsonb"),
    case("hs", "hstore", "hstore", "map<text, text>", &["", "a=>NULL", "\"NULL\"=>\"NULL\", \"\"=>\"\"", "\"a=>b\"=>\"c, d\", \"q\\\"\"=>\"\\\\\""], "r_hstore()"),
    // Figures.
    case("gp", "point", "point", "point", &["(0,-0)", "(NaN,Infinity)", "(-Infinity,1e300)"], "r_point()"),
    case("gl", "line", "line", "line", &["{1,2,3}", "{0,-1,0}"], "line(point(r_int4(), 1), point(r_int2(), 2))"),
    case("gs", "lseg", "lseg", "lseg", &["[(0,0),(0,0)]"], "lseg(r_point(), r_point())"),
    case("gb", "box", "box", "box", &["(1,1),(0,0)", "(0,1),(1,0)"], "box(r_point(), r_point())"),
    case("ga", "path", "path", "path", &["[(1,2)]", "((1,2),(3,4))", "[(1,2),(3,4)]"], "((ARRAY['[', '('])[1 + (i % 2)] || r_points() || (ARRAY[']', ')'])[1 + (i % 2)])::path"),
    case("gy", "polygon", "polygon", "polygon", &["((0,0))", "((0,0),(1,0),(1,1))"], "('(' || r_points() || ')')::polygon"),
    case("gc", "circle", "circle", "circle", &["<(0,0),0>", "<(1,2),3.5>"], "circle(r_point(), abs(r_float8()))"),
    // Domains and composites.
    case("do1", "short_text", "text", "text", &["", "x"], "r_text()::short_text"),
    case("do2", "domain_of_domain", "number", "number", &["0", "NaN", "-99999999999999999999999999.9999"], "(r_int8() / 3.0)::domain_of_domain"),
    case("do3", "int_list", r#"["array", "number"]"#, "list<number>", &["{}", "{NULL,1}", "[5:6]={1,2}"], "ARRAY[r_int4(), r_int4()]::int_list"),
    case("co", "pair", PAIR, "struct<a: text, z: number>", &["(,)", "(1,\"\")", "(,NULL)", "(-1,\"a,\"\"b\\\\\")"], "r_pair()"),
    case("cn", "nest",
        r#"["composite", [["z", ["composite", [["z", "number"], ["a", "text"]]]], ["\u00dcnit", "number"], ["a", ["array", ["composite", [["z", "number"], ["a", "text"]]]]], ["b", "number"], ["c", "text"], ["d", "float4"]]]"#,
        "struct<a: list<struct<a: text, z: number>>, b: number, c: text, d: float, z: struct<a: text, z: number>, \u{DC}nit: number>",
        &["(,,,,,)", "(\"(,)\",NaN,{},0,,-0)"],
        "ROW(r_pair(), r_numeric(), (ARRAY[r_pair(), NULL, r_pair()])[1:r(4)], r_int4() / 7.0, (enum_range(NULL::mood))[1 + r(4)], r_float4())::nest"),
    // Arrays.
    case("a_i4", "int4[]", r#"["array", "number"]"#, "list<number>",
        &["{}", "{NULL}", "{{1,2},{3,4}}", "[0:1]={1,2}", "[-5:-5][2:3]={{1,NULL}}", "{{{{{{1}}}}}}"], "(ARRAY[r_int4(), NULL, r_int4(), r_int4()])[1:r(5)]"),
    case("a_t", "text[]", r#"["array", "text"]"#, "list<text>", &["{}", "{\"\",NULL,\"NULL\",null,\"a\\\\b\\\"c\"}", "{{\" \",\",\"},{\"{}\",x}}"], "(ARRAY[r_text(), NULL, r_text(), r_text()])[1:r(5)]"),
    case("a_n", "numeric[]", r#"["array", "number"]"#, "list<number>", &["{NaN,Infinity,-Infinity,-0.0,1e500}"], "ARRAY[r_numeric(), r_numeric()]"),
    case("a_f4", "float4[]", r#"["array", "float4"]"#, "list<float>", &["{NaN,-0,Infinity,0.1}"], "ARRAY[r_float4(), r_float4()]"),
    case("a_f8", "float8[]", r#"["array", "float8"]"#, "list<float>", &["{NaN,-0,Infinity,0.1}"], "ARRAY[r_float8(), r_float8()]"),
    case("a_b", "bool[]", r#"["array", "bool"]"#, "list<boolean>", &["{t,f,NULL}"], "ARRAY[r(2) = 0, r(2) = 0]"),
    case("a_by", "bytea[]", r#"["array", "bytea"]"#, "list<binary>", &["{\"\",\"\\\\x00ff\"}"], "ARRAY[r_bytea(), NULL, r_bytea()]"),
    case("a_vb", "varbit[]", r#"["array", "bits"]"#, "list<bits>", &["{\"\",101}"], "ARRAY[r_bits(0), r_bits(0)]"),
    case("a_d", "date[]", r#"["array", "date"]"#, "list<date>", &["{infinity,-infinity,\"0044-03-15 BC\"}"], "ARRAY[r_date(), r_date()]"),
    case("a_ti", "time[]", r#"["array", "time"]"#, "list<time>", &["{24:00:00,00:00:00}"], "ARRAY[r_time(), r_time()]"),
    case("a_tz", "timetz[]", r#"["array", "timetz"]"#, "list<time with zone>", &["{24:00:00-15:59:59}"], "ARRAY[r_timetz(), r_timetz()]"),
    case("a_ts", "timestamp[]", r#"["array", "timestamp"]"#, "list<timestamp>", &["{infinity,-infinity,\"0044-03-15 00:00:00 BC\"}"], "ARRAY[r_timestamp(), NULL]"),
    case("a_tt", "timestamptz[]", r#"["array", "timestamptz"]"#, "list<instant>", &["{infinity,-infinity}"], "ARRAY[r_timestamp() AT TIME ZONE 'UTC']"),
    case("a_iv", "interval[]", r#"["array", "interval"]"#, "list<interval>", &["{\"1 mon -1 days\"}"], "ARRAY[r_interval(), r_interval()]"),
    case("a_u", "uuid[]", r#"["array", "uuid"]"#, "list<uuid>", &["{}"], "ARRAY[r_hex(32)::uuid, NULL]"),
    case("a_jb", "jsonb[]", r#"["array", "json"]"#, "list<json>", &["{\"{\\\"a\\\": [1]}\"}"], "ARRAY[r_json()::jsonb, r_json()::jsonb]"),
    case("a_ip", "inet[]", r#"["array", "inet"]"#, "list<inet>", &["{::1,10.0.0.1/8}"], "ARRAY[r_inet(), r_inet()]"),
    case("a_mc", "macaddr[]", r#"["array", "mac"]"#, "list<mac address>", &["{}"], "ARRAY[r_hex(12)::macaddr]"),
    case("a_m", "money[]", r#"["array", "money"]"#, "list<number>", &["{\"$1,000.50\",-1}"], "ARRAY[(r_int8() / 100.0)::numeric::money, 0::money]"),
    case("a_nm", "name[]", r#"["array", "text"]"#, "list<text>", &["{}"], "ARRAY[r_text()::name]"),
    case("a_e", "mood[]", r#"["array", "text"]"#, "list<text>", &["{\"\",sad}"], "enum_range(NULL::mood)"),
    case("a_do", "domain_of_domain[]", r#"["array", "number"]"#, "list<number>", &["{1.50,NULL}"], "ARRAY[(r_int8() / 3.0)::domain_of_domain]"),
    case("a_co", "pair[]", r#"["array", ["composite", [["z", "number"], ["a", "text"]]]]"#, "list<struct<a: text, z: number>>",
        &["{NULL,\"(,)\"}", "[2:2]={\"(1,)\"}"], "(ARRAY[r_pair(), NULL, r_pair()])[1:r(4)]"),
    case("a_hs", "hstore[]", r#"["array", "hstore"]"#, "list<map<text, text>>", &["{\"\"}"], "ARRAY[r_hstore(), r_hstore()]"),
    case("a_gp", "point[]", r#"["array", "point"]"#, "list<point>", &["{\"(1,2)\",NULL}"], "ARRAY[r_point(), r_point()]"),
    case("a_gb", "box[]", r#"["array", "box"]"#, "list<box>", &["{(1,1),(0,0);(2,2),(0,0)}"], "ARRAY[box(r_point(), r_point()), NULL]"),
    case("a_r", "int4range[]", r#"["array", ["range", "number"]]"#, "list<range<number>>", &["{empty,\"(,)\"}"], "ARRAY[r_int4range(), r_int4range()]"),
    // Ranges and sets of them.
    case("r_i4", "int4range", r#"["range", "number"]"#, "range<number>", &["empty", "(,)", "[1,1]", "(,5)", "[5,)", "[-2147483648,2147483647)"], "r_int4range()"),
    case("r_i8", "int8range", r#"["range", "number"]"#, "range<number>", &["empty", "(,)", "[-9223372036854775808,9223372036854775807)"], "r_int8range()"),
    case("r_n", "numrange", r#"["range", "number"]"#, "range<number>", &["empty", "(,)", "[1.50,1.5]", "(-Infinity,Infinity)", "[0,NaN]"], "r_numrange()"),
    case("r_d", "daterange", r#"["range", "date"]"#, "range<date>", &["empty", "[-infinity,infinity)", "[,infinity]"], "r_daterange()"),
    case("r_ts", "tsrange", r#"["range", "timestamp"]"#, "range<timestamp>", &["empty", "[-infinity,infinity]", "(,infinity)"], "r_tsrange()"),
    case("r_tt", "tstzrange", r#"["range", "timestamptz"]"#, "range<instant>", &["empty", "[-infinity,infinity]"], "r_tstzrange()"),
    case("r_t", "text_range", r#"["range", "text"]"#, "range<text>", &["[\"\",\"\"]", "(,\"a,\"\"b\\\\\"]", "empty"], "r_textrange()"),
    case("r_f", "float_range", r#"["range", "float8"]"#, "range<float>", &["[-Infinity,NaN]", "[-0,0]"], "r_floatrange()"),
    case("mr_i4", "int4multirange", r#"["multirange", "number"]"#, "multirange<number>", &["{}", "{(,)}", "{[1,2),[4,5)}"], "int4multirange(r_int4range(), r_int4range(), r_int4range())"),
    case("mr_i8", "int8multirange", r#"["multirange", "number"]"#, "multirange<number>", &["{}"], "int8multirange(r_int8range(), r_int8range())"),
    case("mr_n", "nummultirange", r#"["multirange", "number"]"#, "multirange<number>", &["{[1.0,2.0],(3,)}"], "nummultirange(r_numrange(), r_numrange())"),
    case("mr_d", "datemultirange", r#"["multirange", "date"]"#, "multirange<date>", &["{(,2024-01-01),[2024-02-01,infinity]}"], "datemultirange(r_daterange(), r_daterange())"),
    case("mr_ts", "tsmultirange", r#"["multirange", "timestamp"]"#, "multirange<timestamp>", &["{}"], "tsmultirange(r_tsrange(), r_tsrange())"),
    case("mr_tt", "tstzmultirange", r#"["multirange", "timestamptz"]"#, "multirange<instant>", &["{}"], "tstzmultirange(r_tstzrange(), r_tstzrange())"),
    case("mr_t", "text_multirange", r#"["multirange", "text"]"#, "multirange<text>", &["{[a,b),[\"c,\",d]}"], "text_multirange(r_textrange(), r_textrange())"),
];
