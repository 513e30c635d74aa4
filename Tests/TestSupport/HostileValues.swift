/// Values that break programs which calculate with their input: the limits of every number type, exponents,
/// forms that only some readers accept, and texts that break parsers.
///
/// The fuzzers' seeds are made from this file too (`Tests/Fuzzing/seeds.py`).
package enum HostileValues {
  /// Numbers by the grammar of JSON.
  package static let jsonNumbers = [
    "0", "-0", "0.0", "-0.0", "0e0", "0E+0", "-0e-0", "1", "-1", "2", "1.0", "1.5", "-1.5", "0.1",
    "1e0", "1E0", "1e+0", "1e-0", "1e1", "1e2", "1e-1", "10e-1", "1.50", "15e-1", "100e-2",
    // The limits of the integer types, and one beyond each.
    "127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32768", "-32769", "65535",
    "65536", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
    "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
    "9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775807",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "340282366920938463463374607431768211456",
    // Seconds that overflow as milliseconds, microseconds or nanoseconds.
    "9223372036", "9223372037", "9223372036854", "9223372036855", "9223372036854775",
    "9223372036854776", "-9223372036854776", "106751991167", "106751991168", "253402300799",
    "253402300800", "-62135596801", "-62167219201", "8640000000000001",
    // Exponents at the limits of each type.
    "1e15", "1e16", "1e18", "1e19", "1e20", "1e21", "1e40", "1e41", "1e99", "1e308", "1e309",
    "-1e309", "1e-308", "1e-324", "1e-325", "1e-400", "1.7976931348623157e308",
    "1.7976931348623159e308", "5e-324", "4.9e-324", "1e999999", "1e1000000", "1e1000001",
    "1e-999999", "1e-1000000", "1e-1000001", "1E1000001", "1e2147483647", "1e2147483648",
    "1e-2147483648", "1e4294967296", "1e9223372036854775806", "1e9223372036854775807",
    "1e9223372036854775808", "1e-9223372036854775807", "1e-9223372036854775808",
    "1e-9223372036854775809", "1E-9223372036854775808", "0e-9223372036854775808",
    "-1e-9223372036854775808", "1e18446744073709551616", "0e99999999999999999999",
    "1.1e-9223372036854775808", "10e9223372036854775807", "0.1e-9223372036854775808",
    "1e00000000000000000000001", "0.00000000000000000000000000000000000000000000000001",
    "0.1000000000000000055511151231257827", "1.00000000000000000000000000000000000000000000001",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999.9",
    "999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999",
  ]

  /// Texts that some readers accept as numbers.
  package static let looseNumbers = [
    "+1", "01", "-01", "00", "1.", ".5", "-.5", "-", "+", ".", "e5", "1e", "1e+", "1e-", "1e1.5",
    "--1", "1 ", " 1", "1_000", "1,000", "0x10", "0b1", "1f", "NaN", "nan", "-nan", "inf",
    "-inf", "Infinity", "-Infinity", "infinity", "1e1e1", "\u{0661}", "\u{FF11}", "1\u{0}", "½",
    "nan(0x1)", "0x1p-1074", "0x1p99999", "1/2", "-0x1", "1..2", "1-2", "-9223372036854775808-",
  ]

  /// Dates and times at the limits of calendars.
  package static let dates = [
    "0000-00-00", "0000-01-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:60.999999999-23:59", "0000-01-01T00:00:00+23:59", "2024-02-30",
    "2023-02-29", "10000-01-01", "-0001-01-01", "99999999999999-01-01T00:00:00Z",
    "2024-01-01T24:00:00Z", "2024-01-01T00:00:00.0000000001Z", "2024-01-01T00:00:00+99:99",
    "Sun, 06 Nov 0000 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
    "Sunday, 06-Nov-99 08:49:37 GMT", "Sun Nov 36 08:49:37 1994", "Thu, 29 Feb 2023 00:00:00 GMT",
    "19700101T000000Z", "00000000T000000Z", "99991231T235959Z", "20240230T000000Z",
  ]

  /// Texts without control characters, so that a field and a path can hold them too.
  package static let texts = [
    "", " ", "null", "true", "false", "undefined", "None", "[]", "{}", "[null]", "[[]]", "\"\"",
    "\"", "'", "''", "\\", "\\u0000", "%", "%%", "%00", "%2e%2e%2f", "%ZZ", "%C3%28", "..", "../..",
    "/", "//", "/../../etc/passwd", ".", "*", "?", "#", ";", ",", ",,", "&", "=", "==", "a=b=c",
    "a,b,,c", ":", "::", "a:b", "Film:", ":f1", "Film:f1:x", "-", "--", "_", "$", "$mutation",
    "{", "}", "{{", "${x}", "%s%n%d", "(", ")", "((((((((((((((((((((((((((((((((", "[", "]",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "' OR 1=1 --", "\"; DROP TABLE x; --", "<script>",
    "<?xml?>",
    "<!DOCTYPE x [<!ENTITY a \"b\">]>", "é", "e\u{301}", "\u{FEFF}", "\u{200F}\u{202E}", "𝟘", "😀",
    "👨‍👩‍👧‍👦", "\u{10FFFF}", "\u{FFFD}", "ﬃ", "İ", "ß", "\u{1F1E6}", "Z\u{0300}\u{0301}\u{0302}",
    "bytes=0-", "bytes=-0", "bytes=-9223372036854775808", "bytes=0-9223372036854775807",
    "bytes=9223372036854775807-", "bytes=9223372036854775807-9223372036854775807",
    "bytes=-9223372036854775807", "bytes=5-1", "bytes=0-0,1-1,2-2,3-3", "bytes 0-1/2",
    "max-age=-1", "max-age=9223372036854775807", "max-age=99999999999999999999",
    "max-stale=1e9", "min-fresh=\"\"", "no-cache=\"", "\"a", "W/", "W/\"", "W/\"\"", "\"a\",\"b",
    "*, *",
    "gzip;q=", "gzip;q=9", "gzip;q=1e999", "identity;q=0", "*;q=0", "for=", "for=\"[::\"",
    "Bearer", "Bearer ", "Bearer a.b.c", "Bearer ..", "Basic Og==", "AWS4-HMAC-SHA256",
    "AWS4-HMAC-SHA256 Credential=a/00000000/r/s3/aws4_request, SignedHeaders=host, Signature=0",
    "sha-256=", "sha-256=:AA==:", "md5=AAAA", "AAAA", "AA==", "====", "a.b", "a.b.c", "gAAAA",
    "-title", "title,title", "-", "title DESC", "(title = 'x'", "title LIKE '%%%%%%%%%%'",
    "year = 1e-9223372036854775808", "year = 9223372036854775808", "year IN ()", "NOT NOT NOT year",
    "title = :a", "? = ?", "\"a* b*\"", "a*", "\"\"", "NEAR(a b)",
    "multipart/form-data; boundary=", "application/json; charset=utf-16", "text/plain",
    "attachment; filename*=UTF-8''%ZZ", "00-0-0-00", "9223372036854775807/s", "1d", "-1s", "P1D",
  ]

  /// Texts longer than names, keys and numbers should be.
  package static let long = [
    String(repeating: "9", count: 400), "-" + String(repeating: "9", count: 4000),
    "0." + String(repeating: "0", count: 2000) + "1", "1e" + String(repeating: "9", count: 1000),
    String(repeating: "a", count: 5000), String(repeating: "é", count: 2000),
    String(repeating: "%25", count: 500), String(repeating: "(", count: 2000),
    String(repeating: "a.", count: 1000), String(repeating: ",", count: 2000),
  ]

  /// Characters that are invalid in any line of a head.
  package static let controls = [
    "\0", "a\0b", "\n", "\r\n", "\r\nX: y", "\t", "\u{1B}[31m", "\u{7F}",
  ]

  /// All of them.
  package static let all = jsonNumbers + looseNumbers + dates + texts + long + controls
}
