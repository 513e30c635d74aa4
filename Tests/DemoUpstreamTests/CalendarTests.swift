import Testing

@testable import DemoUpstream

struct CalendarTests {
  @Test(arguments: [
    (Int64(0), "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
    (1_709_194_500, "2024-02-29T08:15:00Z"), (-1, "1969-12-31T23:59:59Z"),
    (4_102_444_799, "2099-12-31T23:59:59Z"),
  ])
  func writesTimes(seconds: Int64, text: String) {
    #expect(Calendar.time(secondsSince1970: seconds) == text)
  }

  @Test(arguments: [
    ("1994-05-12", true), ("2000-02-29", true), ("1900-02-29", false), ("2023-02-29", false),
    ("1994-5-12", false), ("1994-13-01", false), ("1994-00-10", false), ("1994-01-00", false),
    ("+994-01-01", false), ("1994/01/01", false), ("", false), ("1994-05-12T", false),
  ])
  func knowsDays(text: String, isDay: Bool) {
    #expect(Calendar.isDay(text) == isDay)
  }
}
