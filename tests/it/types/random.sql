-- Random values of PostgreSQL types, in the order of setseed, and the types that no server has by itself.
CREATE EXTENSION hstore;
CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'ok, fine', 'O''Brien "x"', '');
CREATE DOMAIN short_text AS varchar(40);
CREATE DOMAIN money_like AS numeric(30, 4);
CREATE DOMAIN domain_of_domain AS money_like CHECK (VALUE IS NULL OR VALUE <> 17);
CREATE DOMAIN int_list AS int4[];
CREATE TYPE pair AS (z int4, a text);
CREATE TYPE nest AS (z pair, U&"\00DCnit" numeric, gone int4, a pair[], b money_like, c mood);
ALTER TYPE nest DROP ATTRIBUTE gone;
ALTER TYPE nest ADD ATTRIBUTE d float4;
CREATE TYPE text_range AS RANGE (subtype = text, collation = "C");
CREATE TYPE float_range AS RANGE (subtype = float8);

CREATE FUNCTION r(count int) RETURNS int LANGUAGE sql AS $$ SELECT floor(random() * count)::int $$;
CREATE FUNCTION r_hex(count int) RETURNS text LANGUAGE sql AS
  $$ SELECT left(md5(random()::text) || md5(random()::text), count) $$;
CREATE FUNCTION r_int8() RETURNS int8 LANGUAGE sql AS $$ SELECT ('x' || r_hex(16))::bit(64)::int8 $$;
CREATE FUNCTION r_int4() RETURNS int4 LANGUAGE sql AS $$ SELECT ('x' || r_hex(8))::bit(32)::int4 $$;
CREATE FUNCTION r_int2() RETURNS int2 LANGUAGE sql AS $$ SELECT (r(65536) - 32768)::int2 $$;
CREATE FUNCTION r_numeric() RETURNS numeric LANGUAGE sql AS
  $$ SELECT ((r_int8() / power(10, r(19))::int8)::text || 'e' || (r(90) - 45))::numeric $$;
CREATE FUNCTION r_float8() RETURNS float8 LANGUAGE sql AS $$ SELECT (random() - 0.5) * power(10::float8, r(600) - 300) $$;
CREATE FUNCTION r_float4() RETURNS float4 LANGUAGE sql AS
  $$ SELECT ((random() - 0.5) * power(10::float8, r(74) - 36))::float4 $$;
-- All that quoting could trip over, and characters of one to four bytes.
CREATE FUNCTION r_text() RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(string_agg(substr(E'ab "\\{}(),;=>''[]NULL\t\n\r\u00e9e\u0301\u4e2d\uffff\U0001F600', 1 + r(33), 1), ''), '')
  FROM generate_series(1, r(12)) $$;
CREATE FUNCTION r_bytea() RETURNS bytea LANGUAGE sql AS $$ SELECT decode(r_hex(2 * r(20)), 'hex') $$;
CREATE FUNCTION r_date() RETURNS date LANGUAGE sql AS $$ SELECT '4713-01-01 BC'::date + r(CASE r(2) WHEN 0 THEN 2147483493 ELSE 3000000 END) $$;
CREATE FUNCTION r_time() RETURNS time LANGUAGE sql AS $$ SELECT '00:00'::time + (r(86400) || '.' || r(1000000))::interval $$;
CREATE FUNCTION r_timetz() RETURNS timetz LANGUAGE sql AS
  $$ SELECT (r_time()::text || ((ARRAY['+', '-'])[1 + r(2)]) || lpad(r(15)::text, 2, '0') || ':' || lpad(r(60)::text, 2, '0'))::timetz $$;
CREATE FUNCTION r_timestamp() RETURNS timestamp LANGUAGE sql AS
  $$ SELECT '4713-01-01 BC'::timestamp + make_interval(days => r(CASE r(2) WHEN 0 THEN 109000000 ELSE 3000000 END)) + r_time() $$;
CREATE FUNCTION r_interval() RETURNS interval LANGUAGE sql AS
  $$ SELECT make_interval(months => r_int4() / (1 + r(1000)), days => r_int4() / (1 + r(1000)), secs => (r_int4() / 1000.0)) $$;
CREATE FUNCTION r_json() RETURNS text LANGUAGE sql AS $$
  SELECT CASE r(6) WHEN 0 THEN r_numeric()::text WHEN 1 THEN to_json(r_text())::text WHEN 2 THEN 'true'
    WHEN 3 THEN json_build_array(r_int8(), r_text(), null, false, json_build_array())::text
    WHEN 4 THEN '{"a": {"a": [1.50, 1e3]}, "a": 2, "\u00e9\n": {}}'
    ELSE json_build_object(r_text(), r_numeric(), 'z', r_text(), 'b', json_build_object('x', r_int4()))::text END $$;
CREATE FUNCTION r_bits(low int) RETURNS varbit LANGUAGE sql AS
  $$ SELECT substring(('x' || r_hex(16))::bit(64) FROM 1 FOR low + r(65 - low)) $$;
CREATE FUNCTION r_inet() RETURNS inet LANGUAGE sql AS $$
  SELECT CASE r(2) WHEN 0 THEN set_masklen('0.0.0.0'::inet + r(2147483647)::int8 * 2, r(33))
    ELSE set_masklen((regexp_replace(r_hex(32), '(....)(?=.)', '\1:', 'g'))::inet, r(129)) END $$;
CREATE FUNCTION r_point() RETURNS point LANGUAGE sql AS $$ SELECT point(r_float8(), r_int4()) $$;
CREATE FUNCTION r_points() RETURNS text LANGUAGE sql AS
  $$ SELECT string_agg(r_point()::text, ',') FROM generate_series(1, 1 + r(4)) $$;
CREATE FUNCTION r_pair() RETURNS pair LANGUAGE sql AS
  $$ SELECT CASE r(5) WHEN 0 THEN ROW(NULL, NULL)::pair WHEN 1 THEN ROW(NULL, '')::pair ELSE ROW(r_int4(), r_text())::pair END $$;
CREATE FUNCTION r_hstore() RETURNS hstore LANGUAGE sql AS
  $$ SELECT coalesce(hstore(array_agg(r_text()), array_agg(nullif(r_text(), ''))), '') FROM generate_series(1, r(5)) $$;
CREATE FUNCTION r_ends() RETURNS text LANGUAGE sql AS $$ SELECT (ARRAY['[]', '[)', '(]', '()'])[1 + r(4)] $$;
CREATE FUNCTION r_int4range() RETURNS int4range LANGUAGE sql AS
  $$ SELECT int4range(least(a, b), greatest(a, b), '[)') FROM (SELECT r_int4() a, nullif(r_int4(), 0) b OFFSET 0) x $$;
CREATE FUNCTION r_int8range() RETURNS int8range LANGUAGE sql AS
  $$ SELECT int8range(least(a, b), greatest(a, b), '[)') FROM (SELECT r_int8() a, r_int8() b OFFSET 0) x $$;
CREATE FUNCTION r_numrange() RETURNS numrange LANGUAGE sql AS
  $$ SELECT numrange(least(a, b), greatest(a, b), r_ends()) FROM (SELECT r_numeric() a, r_numeric() b OFFSET 0) x $$;
CREATE FUNCTION r_daterange() RETURNS daterange LANGUAGE sql AS
  $$ SELECT daterange(least(a, b), greatest(a, b), '[)') FROM (SELECT r_date() a, r_date() b OFFSET 0) x $$;
CREATE FUNCTION r_tsrange() RETURNS tsrange LANGUAGE sql AS
  $$ SELECT tsrange(least(a, b), greatest(a, b), r_ends()) FROM (SELECT r_timestamp() a, r_timestamp() b OFFSET 0) x $$;
CREATE FUNCTION r_tstzrange() RETURNS tstzrange LANGUAGE sql AS
  $$ SELECT tstzrange(lower(x), upper(x), r_ends()) FROM (SELECT r_tsrange() x OFFSET 0) x $$;
CREATE FUNCTION r_textrange() RETURNS text_range LANGUAGE sql AS
  $$ SELECT text_range(CASE WHEN a < b THEN a ELSE b END, CASE WHEN a < b THEN b ELSE a END, r_ends())
     FROM (SELECT r_text() COLLATE "C" a, r_text() COLLATE "C" b OFFSET 0) x $$;
CREATE FUNCTION r_floatrange() RETURNS float_range LANGUAGE sql AS
  $$ SELECT float_range(least(a, b), greatest(a, b), r_ends()) FROM (SELECT r_float8() a, r_float8() b OFFSET 0) x $$;
