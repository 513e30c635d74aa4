import LosslessJSON
import Model
import Testing

@testable import Endpoints
@testable import Gateway

struct SubscriptionEventsTests {
  private static func text(_ frame: SubscriptionStream.Frame) -> String {
    String(
      decoding: SubscriptionEvents.bytes(
        of: frame, instance: "/v1/operations/ItemChanged/stream", requestID: "r-1"),
      as: UTF8.self)
  }

  @Test("Frames are server-sent events without ids")
  func writesFrames() {
    let batch = EventBatch([Array(#"{"data":{"a":1}}"#.utf8), Array(#"{"data":{"a":2}}"#.utf8)])
    #expect(
      Self.text(.events(batch))
        == "event: next\ndata: {\"data\":{\"a\":1}}\n\nevent: next\ndata: {\"data\":{\"a\":2}}\n\n")
    #expect(Self.text(.gap) == "event: gap\ndata: {}\n\n")
    #expect(Self.text(.complete) == "event: complete\ndata: {}\n\n")
    #expect(Self.text(.heartbeat) == ":\n\n")
  }

  @Test("A failure is an event with a problem document that says whether to reconnect")
  func writesProblem() throws {
    let failure = Failure(
      .upstreamForbidden, "The upstream API does not allow this.", cause: "secret")
    let text = Self.text(.error(failure))
    #expect(text.hasPrefix("event: error\ndata: {") && text.hasSuffix("}\n\n"))
    #expect(!text.contains("secret"))
    let data = try #require(text.split(separator: "\n").last?.dropFirst("data: ".count))
    let problem = try JSONValue(checked: String(data))
    #expect(problem["code"] == "upstream_forbidden" && problem["retry"] == "never")
    #expect(problem["status"] == 403)
    #expect(problem["instance"] == "/v1/operations/ItemChanged/stream")
  }
}
