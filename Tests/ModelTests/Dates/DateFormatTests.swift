import LosslessJSON
import TestSupport
import Testing

@testable import Model

struct DateFormatTests {
  @Test(
    "A format reads and writes its dates",
    arguments: [
      ("iso8601", "2024-02-29" as JSONValue, "2024-02-29", "2024-02-29" as JSONValue),
      (
        "iso8601", "2024-02-29T00:30:00+01:00", "2024-02-28T23:30:00.000000000Z",
        "2024-02-28T23:30:00.000Z"
      ),
      (
        "iso8601", "2016-12-31T23:59:60Z", "2016-12-31T23:59:60.000000000Z",
        "2016-12-31T23:59:60.000Z"
      ),
      (
        "iso8601", "1969-12-31T23:59:59.05Z", "1969-12-31T23:59:59.050000000Z",
        "1969-12-31T23:59:59.050Z"
      ),
      ("seconds", 0, "1970-01-01T00:00:00.000000000Z", 0),
      ("seconds", 1_709_164_800, "2024-02-29T00:00:00.000000000Z", 1_709_164_800),
      (
        "seconds", .number(JSONNumber(-0.5)!), "1969-12-31T23:59:59.500000000Z",
        .number(JSONNumber(-0.5)!)
      ),
      ("milliseconds", -1, "1969-12-31T23:59:59.999000000Z", -1),
      ("milliseconds", 1_709_164_800_001, "2024-02-29T00:00:00.001000000Z", 1_709_164_800_001),
      ("dd.MM.yyyy", "29.02.2024", "2024-02-29", "29.02.2024"),
      (
        "dd.MM.yyyy HH:mm", "29.02.2024 07:05", "2024-02-29T07:05:00.000000000Z", "29.02.2024 07:05"
      ),
      (
        "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2024-02-29T07:05:01.250-02:30",
        "2024-02-29T09:35:01.250000000Z", "2024-02-29T09:35:01.250Z"
      ),
      (
        "yyyyMMddHHmmssZ", "20240229070501+0100", "2024-02-29T06:05:01.000000000Z",
        "20240229060501+0000"
      ),
    ])
  func readsAndWrites(name: String, written: JSONValue, stored: String, rendered: JSONValue) throws
  {
    let format = try #require(DateFormat(name))
    #expect(format.stored(written) == stored)
    #expect(format.formatted(stored) == rendered)
    #expect(format.name == name)
  }

  @Test(
    "Values in another format are refused",
    arguments: [
      ("iso8601", "2023-02-29" as JSONValue), ("iso8601", "2024-02-29T25:00:00Z"),
      ("iso8601", "2024-02-29T12:00:00"), ("iso8601", "2024-02-29T12:00:00.1234567891Z"),
      ("iso8601", 3), ("iso8601", "0000-01-01T00:00:00+01:00"), ("seconds", "3"),
      ("seconds", .number(JSONNumber(digits: "1e9")!)), ("seconds", 999_999_999_999),
      ("seconds", .number(JSONNumber(digits: "-9223372036854775807")!)),
      ("dd.MM.yyyy", "2024-02-29"), ("dd.MM.yyyy", "29.02.2024 "),
      ("dd.MM.yyyy HH:mm", "29.02.2024 24:00"),
    ])
  func refusesOtherFormats(name: String, written: JSONValue) throws {
    #expect(try #require(DateFormat(name)).stored(written) == nil)
  }

  @Test(
    "Invalid formats are refused",
    arguments: [
      "", "iso", "yyyy-MM", "yyyy-MM-dd mm", "yyyy-MM-dd HH:mm SSS", "yy-MM-dd", "yyyy-MM-dd dd",
      "yyyy-MM-dd 'open", "EEE dd MM yyyy", "yyyy-MM-dd XXX",
    ])
  func refusesInvalidFormats(name: String) {
    #expect(DateFormat(name) == nil)
  }

  @Test("Stored dates sort by time")
  func storedDatesSortByTime() throws {
    var random = SeededGenerator(seed: 7)
    let moments = (0..<500).map { _ in
      (
        Int64.random(in: -62_167_219_200...253_402_300_799, using: &random),
        Int.random(in: 0..<3, using: &random) * 500_000_000 % 1_000_000_000
      )
    }.compactMap { CalendarValue(seconds: $0.0, nanoseconds: $0.1) }
    #expect(moments.count == 500)
    for moment in moments {
      #expect(CalendarValue(iso8601: moment.stored) == moment)
      #expect(CalendarValue(iso8601: moment.iso8601) == moment)
      #expect(CalendarValue(seconds: moment.seconds, nanoseconds: moment.nanoseconds) == moment)
    }
    let byText = moments.sorted { $0.stored < $1.stored }
    let byTime = moments.sorted { ($0.seconds, $0.nanoseconds) < ($1.seconds, $1.nanoseconds) }
    #expect(byText.map(\.stored) == byTime.map(\.stored))
  }
}
