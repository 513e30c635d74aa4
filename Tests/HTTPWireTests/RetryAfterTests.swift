import HTTPWire
import Testing

struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private static let now = HTTPDate(secondsSince1970: 784_111_777)

  @Test(
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
  func tellsHowLongToWait(_ text: String, seconds: Int64?) {
    #expect(RetryAfter.wait(text, now: Self.now) == seconds.map { .seconds($0) })
  }
}
