import Cryptography
import HTTPClient
import Model
import Testing

@testable import Gateway

struct HookReviewerTests {
  private static func hook(
    _ moment: OutgoingHook.Moment, _ timeout: Duration
  ) throws -> OutgoingHook {
    OutgoingHook(
      name: "\(moment) \(timeout)", trigger: .write(type: "Trip", .insert), moment: moment,
      url: try #require(try? HTTPURL("http://hooks.test/")),
      keys: [SymmetricKey(data: Array(0..<32))], timeout: timeout)
  }

  /// 1,000 requests, eight at a time, are 125 timeouts; three rounds of at most 30 seconds.
  @Test(
    "The time for all rounds of hooks follows from the longest timeout, and has a limit",
    arguments: [
      ([], .zero),
      ([(.after, .seconds(30))], .zero),
      ([(.before, .milliseconds(100))], .milliseconds(37_500)),
      ([(.before, .milliseconds(100)), (.before, .milliseconds(200))], .seconds(75)),
      ([(.before, .seconds(2))], .seconds(90)),
      ([(.before, .seconds(30)), (.after, .seconds(30))], .seconds(90)),
    ] as [([(OutgoingHook.Moment, Duration)], Duration)])
  func timeMax(hooks: [(OutgoingHook.Moment, Duration)], expected: Duration) throws {
    #expect(HookReviewer.timeMax(of: try hooks.map(Self.hook)) == expected)
  }
}
