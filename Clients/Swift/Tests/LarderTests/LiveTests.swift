import Foundation
import Testing

@testable import Larder

struct LiveTests {
  private static let page: JSONValue = ["changes": [], "cursor": "c1", "complete": true]

  private func open(_ transport: ScriptedLarder) async throws -> Larder {
    var options = Larder.Options()
    options.pollInterval = .milliseconds(1)
    return try await ScriptedLarder.open(transport, options: options)
  }

  @Test(
    "A subject ends when its profile is not active any more, with a user or without",
    .timeLimit(.minutes(1)), arguments: [true, false])
  func endsWithProfile(hasUser: Bool) async throws {
    let transport = ScriptedLarder { request in
      ScriptedLarder.account(request) ?? (request.isStream ? (404, [:]) : (200, Self.page))
    }
    let larder = try await open(transport)
    try await larder.register()
    if hasUser { try await larder.signIn(as: "a") }
    let events = larder.live(.changes(types: []))
    try await until { transport.requests.filter { $0 == "GET /v1/changes" }.count > 3 }
    try await larder.signOut()
    await #expect(throws: LarderError.signedOut) { for try await _ in events {} }
    await #expect(throws: LarderError.signedOut) {
      for try await _ in larder.live(.changes(types: [])) {}
    }
  }

  @Test(
    "A cursor that is refused while polling resets the subject, which goes on",
    .timeLimit(.minutes(1)))
  func resetsWhilePolling() async throws {
    let transport = ScriptedLarder.withAccount { request in
      if request.isStream { return (404, ["message": "not here"]) }
      switch request.query.first(where: { $0.name == "since" })?.value {
      case "old": return (410, ["code": "cursor_gone", "reason": "age"])
      case "now": return (200, Self.page)
      default:
        let change: JSONValue = ["op": "del", "type": "Film", "id": "f1"]
        return (200, ["changes": [change], "cursor": "c2", "complete": true])
      }
    }
    let larder = try await open(transport)
    try await larder.register()
    var events = larder.live(.changes(types: [], since: "old")).makeAsyncIterator()
    let reset = try await events.next()
    #expect(reset?.name == "reset")
    #expect(reset?.data["code"] == "cursor_gone")
    let change = try await events.next()
    #expect(change?.name == "change")
    #expect(change?.source == .polling)
  }

  @Test(
    "Where a proxy responds in place of a stream, the subject is polled",
    .timeLimit(.minutes(1)), arguments: [200, 401, 403, 404, 302])
  func pollsBehindProxies(status: Int) async throws {
    let transport = ScriptedLarder.replyingWithAccount { request in
      if request.isStream {
        return ScriptedLarder.Reply(
          status: status, headers: ["content-type": "text/html", "content-length": "1"],
          body: [Data("x".utf8)])
      }
      return ScriptedLarder.json(["data": ["film": nil]])
    }
    let larder = try await open(transport)
    try await larder.register()
    var events = larder.live(.operation("Film")).makeAsyncIterator()
    let event = try await events.next()
    #expect(event?.name == "message")
    #expect(event?.source == .polling)
  }

  @Test(
    "A path must begin with one slash, and lead nowhere else", .timeLimit(.minutes(1)),
    arguments: ["v1/entities/Film", "//v1/entities/Film", "/v1/../admin", "/v1/%2e%2E/admin", ""])
  func refusesOtherPaths(path: String) async throws {
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (200, [:]) }
    let larder = try await open(transport)
    try await larder.register()
    #expect(
      await failure { for try await _ in larder.live(.collection(path)) {} }?.code
        == "invalid_argument")
    #expect(transport.requests == ["POST /v1/devices"])
  }

  @Test(
    "A stream that ends after each event is opened again after longer and longer pauses",
    .timeLimit(.minutes(1)))
  func waitsLongerAfterShortStreams() async throws {
    let pauses = Locked<[Duration]>([])
    var options = Larder.Options()
    // Longer than all pauses.
    let deadline = Duration.seconds(3_600)
    options.deadline = deadline
    options.sleep = { pause in
      if pause == deadline { return try await Task.sleep(for: pause) }
      try Task.checkCancellation()
      pauses.withLock { $0.append(pause) }
    }
    let transport = ScriptedLarder.replyingWithAccount { request in
      if pauses.withLock({ $0.count }) == 6 {
        var reply = ScriptedLarder.json(["code": "overloaded"], status: 503)
        reply.headers["retry-after"] = "90"
        return reply
      }
      return ScriptedLarder.Reply(
        headers: ["content-type": "text/event-stream", "request-id": "1"],
        body: [Data("data: {}\n\n".utf8)])
    }
    let larder = try await ScriptedLarder.registered(transport, options: options)
    let following = Task { for try await _ in larder.live(.operation("Film")) {} }
    defer { following.cancel() }
    try await until { pauses.withLock { $0.count } > 7 }
    let found = pauses.withLock { $0 }
    #expect(found[0] >= .milliseconds(500) && found[0] <= .seconds(1))
    #expect(found[3] >= .seconds(4))
    #expect(found[5] >= .seconds(15))
    #expect(found[6] == .seconds(90))
  }
}
