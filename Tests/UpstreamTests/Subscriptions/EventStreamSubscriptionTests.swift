import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization
import TestSupport
import Testing

@testable import Upstream

/// GraphQL over SSE, distinct connections mode.
@Suite(.timeLimit(.minutes(10)))
struct EventStreamSubscriptionTests {
  private static let settings = UpstreamConfiguration(
    url: "http://up/graphql", headers: [.init("x-client", "larder")], subscriptions: .eventStream)

  private static func film(_ title: String) -> String {
    "event: next\ndata: {\"data\":{\"filmChanged\":{\"larder_typename\":\"Film\",\"larder_Film_id\":"
      + "\"9\",\"title\":\"\(title)\"}}}\n\n"
  }

  @Test("Each subscription is a request of its own, which its events end")
  func subscribes() async throws {
    let stream = ScriptedStream()
    let streams = ScriptedStreams { _ throws(HTTPClientError) in stream }
    let live = LiveSetting(Self.settings, streams: streams)
    let subscription = try live.open(token: "Bearer u")
    #expect(LiveSetting.word(await subscription.next()) == "established")
    let request = try #require(streams.requests.first)
    #expect(request.method == .post)
    #expect(request.url.target == "/graphql")
    #expect(request.fields[.accept] == "text/event-stream")
    #expect(request.fields[.authorization] == "Bearer u")
    #expect(!request.isSafeToRepeat)
    let body = try JSONValue(parsing: request.body)
    #expect(body["operationName"] == "FilmChanged")
    #expect(body["variables"] == ["id": "9"])
    // Split anywhere; a comment, an unnamed event and one of another name say nothing.
    for character in ":\n\n" + Self.film("Alien") { stream.send(String(character)) }
    stream.send("data: {}\n\nevent: hello\ndata: {}\n\n" + Self.film("Aliens"))
    #expect(LiveSetting.word(await subscription.next()) == "next Alien")
    #expect(LiveSetting.word(await subscription.next()) == "next Aliens")
    stream.send("event: complete\ndata:\n\n")
    #expect(LiveSetting.word(await subscription.next()) == "complete")
    #expect(await subscription.next() == nil)
    #expect(await eventuallyHolds { live.subscriptions.connectionCount == 0 })
  }

  @Test("A stream that ends without `complete` is opened again, with its gap reported")
  func reconnects() async throws {
    let opened = Mutex<[ScriptedStream]>([])
    let streams = ScriptedStreams { _ throws(HTTPClientError) in
      let stream = ScriptedStream()
      opened.withLock { $0.append(stream) }
      return stream
    }
    let live = LiveSetting(Self.settings, streams: streams)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    for round in 1...4 {
      opened.withLock { $0.last }?.end(round.isMultiple(of: 2) ? nil : .connectionLost)
      #expect(LiveSetting.word(await subscription.next()) == "interrupted")
      #expect(await live.pass(.seconds(1)) { streams.requests.count == round + 1 })
      #expect(LiveSetting.word(await subscription.next()) == "re-established")
    }
  }

  @Test(
    "A response that is no event stream says why",
    arguments: [
      (400, "application/json", #"{"errors":[{"message":"syntax"}]}"#, "rejected: syntax"),
      (200, "application/json", #"{"errors":[{"message":"no"}]}"#, "rejected: no"),
      (200, "application/json", #"{"data":{}}"#, "rejected: upstream sent no event stream"),
      (
        200, "application/json",
        #"{"errors":[{"message":"m","extensions":{"code":"permission-error"}}]}"#, "refused"
      ),
      (401, "text/html", "<html>", "refused"),
      (404, "text/html", "<html>", "failed: upstream responded with status 404"),
    ])
  func reportsOtherResponses(
    status: Int, type: String, body: String, word: String
  ) async throws {
    let streams = ScriptedStreams { _ throws(HTTPClientError) in
      let stream = ScriptedStream(HTTPResponse.Status(code: status), type: type)
      stream.send(body)
      stream.end()
      return stream
    }
    let live = LiveSetting(Self.settings, streams: streams)
    let subscription = try live.open()
    var words: [String] = []
    while let event = await subscription.next() { words.append(LiveSetting.word(event)) }
    #expect(words.last == word)
  }

  @Test("A failing server is asked again, an event above the limit too")
  func retries() async throws {
    let attempts = Mutex(0)
    let streams = ScriptedStreams { _ throws(HTTPClientError) in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      switch attempt {
      case 1: throw .connectTimedOut
      case 2: return ScriptedStream(.serviceUnavailable, type: "text/html").ended()
      case 3:
        let stream = ScriptedStream()
        stream.send("data: " + String(repeating: "x", count: 3_000))
        return stream
      default: return ScriptedStream()
      }
    }
    var limits = SubscriptionLimits()
    limits.messageBytesMax = 1_000
    let live = LiveSetting(Self.settings, limits: limits, streams: streams)
    let subscription = try live.open()
    #expect(await live.pass(.seconds(1)) { attempts.withLock { $0 } == 4 })
    let words = await LiveSetting.words(of: subscription, upTo: "re-established")
    #expect(words == ["interrupted", "established", "interrupted", "re-established"])
  }
}

extension ScriptedStream {
  fileprivate func ended() -> ScriptedStream {
    end()
    return self
  }
}
