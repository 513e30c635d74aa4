import Testing

@testable import DemoUpstream

struct HundredthsTests {
  @Test(arguments: [
    ("7.4", "7.40"), ("7.40", "7.40"), ("0", "0.00"), ("-0.05", "-0.05"), ("-3.5", "-3.50"),
    ("1250000.00", "1250000.00"), ("12", "12.00"),
  ])
  func keepsTwoPlaces(digits: String, written: String) {
    #expect(Hundredths(digits: digits)?.digits == written)
  }

  @Test(arguments: [
    "", ".", "1.", "1.234", "1e3", "1.2.3", "x", "1.x", "99999999999999999999",
    "-9223372036854775808", "9223372036854775807", "-9223372036854775808.99",
  ])
  func refusesOtherTexts(digits: String) {
    #expect(Hundredths(digits: digits) == nil)
  }
}
