import HTTPWire
import TestSupport
import Testing

struct HTTPDateTests {
  private let now = HTTPDate(secondsSince1970: 1_790_000_000)

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func readsAllThreeForms(text: String) {
    #expect(HTTPDate(text, now: now)?.secondsSince1970 == 784_111_777)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
  ])
  func writesTheFixedForm(seconds: Int64, expected: String) {
    #expect(HTTPDate(secondsSince1970: seconds).text == expected)
  }

  @Test(arguments: [
    "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 24:49:37 GMT",
    "Sun, 31 Feb 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "1994-11-06T08:49:37Z",
  ])
  func refusesAnythingElse(text: String) {
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

  @Test func twoDigitYearsStayWithinFiftyYears() {
    // `now` is in 2026, so 76 is still ahead and 77 is past.
    let ahead = HTTPDate("Friday, 06-Nov-76 08:49:37 GMT", now: now)
    let past = HTTPDate("Friday, 06-Nov-77 08:49:37 GMT", now: now)
    #expect(ahead?.text == "Fri, 06 Nov 2076 08:49:37 GMT")
    #expect(past?.text == "Sun, 06 Nov 1977 08:49:37 GMT")
  }

  @Test(arguments: [0x71, 0x72])
  func whatIsWrittenIsReadBack(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let date = HTTPDate(
        secondsSince1970: Int64.random(in: 0...253_402_300_799, using: &random))
      #expect(HTTPDate(date.text, now: now) == date, "seed \(seed)")
    }
  }
}
