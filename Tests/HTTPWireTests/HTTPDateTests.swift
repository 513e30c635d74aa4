import HTTPWire
import TestSupport
import Testing

struct HTTPDateTests {
  private let now = HTTPDate(secondsSince1970: 1_790_000_000)

  @Test(
    "All three date forms are parsed",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
  func parsesAllThreeForms(text: String) {
    #expect(HTTPDate(text, now: now)?.secondsSince1970 == 784_111_777)
  }

  @Test(
    "Dates are written as IMF-fixdate",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
      (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
  func writesTheFixedForm(seconds: Int64, expected: String) {
    #expect(HTTPDate(secondsSince1970: seconds).text == expected)
  }

  @Test(
    "Malformed dates are refused",
    arguments: [
      "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 31 Feb 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
      "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "1994-11-06T08:49:37Z",
    ])
  func refusesOtherForms(text: String) {
    #expect(HTTPDate(text, now: now) == nil)
  }

  @Test("A moment outside the years 0000 to 9999 is written as the nearest inside them")
  func writesEveryMoment() {
    for seconds in [Int64.min, -62_167_219_201] {
      #expect(HTTPDate(secondsSince1970: seconds).text == "Sat, 01 Jan 0000 00:00:00 GMT")
    }
    for seconds in [Int64.max, 253_402_300_800] {
      #expect(HTTPDate(secondsSince1970: seconds).text == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
  }

  @Test("A two-digit year is at most fifty years ahead")
  func twoDigitYearsStayWithinFiftyYears() {
    // `now` is in 2026, so 76 is still ahead and 77 is past.
    let ahead = HTTPDate("Friday, 06-Nov-76 08:49:37 GMT", now: now)
    let past = HTTPDate("Friday, 06-Nov-77 08:49:37 GMT", now: now)
    #expect(ahead?.text == "Fri, 06 Nov 2076 08:49:37 GMT")
    #expect(past?.text == "Sun, 06 Nov 1977 08:49:37 GMT")
  }

  @Test(
    "A written date parses to the same moment",
    arguments: [0x71, 0x72])
  func writtenDatesParseBack(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let date = HTTPDate(
        secondsSince1970: Int64.random(in: 0...253_402_300_799, using: &random))
      #expect(HTTPDate(date.text, now: now) == date, "seed \(seed)")
    }
  }
}

struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private static let now = HTTPDate(secondsSince1970: 784_111_777)

  @Test(
    "Retry-After gives the time to wait",
    arguments: [
      ("0", 0), ("120", 120), ("007", 7), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
      ("Sunday, 06-Nov-94 09:49:37 GMT", 3_600), ("Sun Nov  6 08:49:38 1994", 1),
      // Over already.
      ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil), ("1 ", nil), ("soon", nil),
      // Held at what every use of it can be reckoned with.
      ("9223372036854775807", 1 << 31), ("99999999999999999999", 1 << 31),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 1 << 31), ("06 Nov 1994 08:50:37", nil),
    ] as [(String, Int64?)])
  func parsesWait(_ text: String, seconds: Int64?) {
    #expect(RetryAfter.wait(text, now: Self.now) == seconds.map { .seconds($0) })
  }
}
