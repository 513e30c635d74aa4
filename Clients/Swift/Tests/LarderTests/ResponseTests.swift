import Foundation
import Testing

@testable import Larder

/// Responses that are not Larder's, and ones that come slowly.
struct ResponseTests {
  private static func page(_ status: Int = 200) -> ScriptedLarder.Reply {
    let text = Data("<html>Sign in to the network</html>".utf8)
    return ScriptedLarder.Reply(
      status: status,
      headers: ["content-type": "text/html", "content-length": String(text.count)], body: [text])
  }

  private static let foreign: [String: ScriptedLarder.Reply] = [
    "a page": page(),
    "a redirection": page(302),
    "other JSON": ScriptedLarder.json(["ok": true]),
    "JSON of another kind": ScriptedLarder.json(["a"]),
    "no content": ScriptedLarder.Reply(
      headers: ["content-length": "0", "request-id": "1"]),
    "a 403 page": page(403),
    "a 401 page": page(401),
    "a 404 in other JSON": ScriptedLarder.json(["message": "Not Found"], status: 404),
    "an error of Connect RPC": ScriptedLarder.foreign(["code": "unauthenticated"], status: 401),
    "an error of Twirp": ScriptedLarder.foreign(["code": "bad_route", "msg": "?"], status: 404),
    "an error of a service with request ids": ScriptedLarder.foreign(
      ["code": "bad_route", "status": 404, "retry": "never"], status: 404, ["request-id": "1"]),
    "another service's problem": ScriptedLarder.foreign(
      ["code": "bad_route", "status": 404], status: 404,
      ["request-id": "1", "content-type": "application/problem+json"]),
    "a problem of another status": ScriptedLarder.foreign(
      ["code": "not_found", "status": 404, "retry": "never"], status: 403,
      ["request-id": "1", "content-type": "application/problem+json"]),
    "a problem that a proxy sends": ScriptedLarder.foreign(
      ["code": "not_found", "status": 404, "retry": "never"], status: 404,
      ["content-type": "application/problem+json"]),
    "data of another GraphQL service": ScriptedLarder.foreign(["data": ["film": nil]]),
    "another service's JSON of Larder's shapes": ScriptedLarder.foreign([
      "id": "m1", "state": "queued", "changes": [], "cursor": "c", "complete": true,
      "data": ["film": nil], "uploadId": "u1", "accessToken": "a", "refreshToken": "r",
      "expiresIn": 900, "userId": "u1",
    ]),
    "half of the JSON": ScriptedLarder.Reply(
      headers: [
        "content-type": "application/json", "content-length": "10", "request-id": "1",
      ],
      body: [Data(#"{"id":"x",""#.utf8)]),
    "a status that was not asked for": ScriptedLarder.Reply(
      status: 304, headers: ["request-id": "1"]),
    "an unknown state": ScriptedLarder.json(["id": "m1", "state": "fine"]),
  ]

  @Test("A response that is not Larder's ends nothing, and is no response", arguments: foreign)
  func ignoresForeign(name: String, reply: ScriptedLarder.Reply) async throws {
    let isForeign = Locked(false)
    let past = Locked(0.0)
    let transport = ScriptedLarder(replying: { request in
      if isForeign.withLock({ $0 }) { return reply }
      if let answer = ScriptedLarder.account(request) {
        return ScriptedLarder.json(answer.body, status: answer.status)
      }
      if request.path == "/v1/mutations" {
        return ScriptedLarder.json(["id": "m1", "state": "queued"], status: 202)
      }
      return ScriptedLarder.json(["changes": [], "cursor": "c", "complete": true])
    })
    let larder = try await ScriptedLarder.open(transport) {
      Date().addingTimeInterval(past.withLock { $0 })
    }
    try await larder.signIn(as: "a")
    try await larder.follow("films", types: ["Film"])
    let key = try await larder.submit("RateFilm")
    isForeign.withLock { $0 = true }
    func isOffline(_ body: () async throws -> Void) async {
      #expect(await failure { try await body() }?.code == "offline")
    }
    let result = try await larder.send()
    #expect(result.left == 1 && result.error?.code == "offline")
    await isOffline { _ = try await larder.force("RateFilm") }
    await isOffline { _ = try await larder.sync() }
    await isOffline { _ = try await larder.query("Film") }
    #expect(try await !larder.registerPush(token: "push"))
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("content".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(try await !larder.upload(file, bucket: "pics", key: "a").isDone)
    past.withLock { $0 = 1e6 }  // The tokens have expired.
    await isOffline { _ = try await larder.sync() }
    #expect(await larder.profile?.canSend == true)
    #expect(try await larder.outcomes().isEmpty)
    #expect(try await !larder.signOut())
    await isOffline { _ = try await larder.signIn(as: "a") }
    isForeign.withLock { $0 = false }
    try await larder.signIn(as: "a")
    #expect(try await larder.outbox().contains { $0.key == key })
    #expect(try await larder.send().left == 0)
  }

  @Test("Over TLS a body without a length is whole, and elsewhere it was cut off")
  func takesBodiesWithoutLength() async throws {
    let transport = ScriptedLarder(replying: { request in
      let json = ScriptedLarder.account(request)?.body ?? ["data": ["film": nil]]
      var reply = ScriptedLarder.json(json)
      if request.path == "/v1/operations/Film" { reply.headers["content-length"] = nil }
      return reply
    })
    let secure = try await ScriptedLarder.open(transport, url: "https://larder")
    try await secure.register()
    #expect(try await secure.query("Film").source == .network)
    let plain = try await ScriptedLarder.open(transport)
    try await plain.register()
    await #expect(throws: LarderError.self) { try await plain.query("Film") }
  }

  @Test("The deadline begins again with each 4 KiB", .timeLimit(.minutes(1)))
  func restartsDeadline() async throws {
    let deadlines = Locked(0)
    let isExpiring = Locked(false)
    var options = Larder.Options()
    options.sleep = { _ in
      deadlines.withLock { $0 += 1 }
      if isExpiring.withLock({ $0 }) { return }
      try await Task.sleep(for: .seconds(3_600))
    }
    let transport = ScriptedLarder.replyingWithAccount { request in
      let text = String(repeating: "x", count: 8 * HTTPClient.bytesOfDeadline)
      var reply = ScriptedLarder.json(["data": ["film": .string(text)]])
      let whole = reply.body[0]
      reply.body = stride(from: 0, to: whole.count, by: HTTPClient.bytesOfDeadline).map { start in
        Data(whole[start..<min(whole.count, start + HTTPClient.bytesOfDeadline)])
      }
      let before = deadlines.withLock { $0 }
      reply.beforePiece = { index in
        // The deadlines of the request, its head, and each piece so far.
        try? await until { deadlines.withLock { $0 } >= before + index + 1 }
        if index == 5, request.path.hasSuffix("Slow") {
          isExpiring.withLock { $0 = true }
        } else if index > 5, isExpiring.withLock({ $0 }) {
          try? await Task.sleep(for: .seconds(3_600))
        }
      }
      return reply
    }
    let larder = try await ScriptedLarder.registered(transport, options: options)
    #expect(try await larder.query("Film").source == .network)
    #expect(await failure { _ = try await larder.query("Slow") }?.code == "offline")
  }

  @Test("A body that comes byte by byte has one deadline", .timeLimit(.minutes(1)))
  func endsSlowBodies() async throws {
    // One until the head and one from then on, of registering and of the query.
    let ofHeads = 4
    let deadlines = Locked(0)
    let end = Gate()
    var options = Larder.Options()
    options.sleep = { _ in
      deadlines.withLock { $0 += 1 }
      await end.pass()
    }
    let transport = ScriptedLarder.replyingWithAccount { request in
      var reply = ScriptedLarder.json([
        "data": ["film": .string(String(repeating: "x", count: 3_000))]
      ])
      reply.body = reply.body[0].map { Data([$0]) }
      let last = reply.body.count - 1
      reply.beforePiece = { index in
        if index == 0 {
          try? await until { deadlines.withLock { $0 } == ofHeads }
        } else if index == last {
          await end.open()
          try? await Task.sleep(for: .seconds(3_600))
        }
      }
      return reply
    }
    let larder = try await ScriptedLarder.registered(transport, options: options)
    #expect(await failure { _ = try await larder.query("Slow") }?.code == "offline")
    #expect(deadlines.withLock { $0 } == ofHeads)
  }

  @Test("A cancelled call does not wait for the call before it", .timeLimit(.minutes(1)))
  func cancelsWaiting() async throws {
    let (arrived, held) = (Gate(), Gate())
    let transport = ScriptedLarder.withAccount { request in
      await arrived.open()
      await held.pass()
      return (202, ["id": "m1", "state": "queued"])
    }
    let larder = try await ScriptedLarder.registered(transport)
    try await larder.submit("First")
    async let sending = larder.send()
    await arrived.pass()
    let forcing = Task { try await larder.force("Second") }
    try await until { await larder.mutations.exclusive.waitingCount == 1 }
    forcing.cancel()
    await #expect(throws: CancellationError.self) { try await forcing.value }
    #expect(try await larder.outbox().map(\.operation) == ["First"])
    await held.open()
    #expect(try await sending.sent == 1)
  }
}
