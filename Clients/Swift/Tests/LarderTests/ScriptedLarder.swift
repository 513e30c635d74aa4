import Foundation
import Testing

@testable import Larder

/// Responses by a script, in place of a connection.
final class ScriptedLarder: HTTPTransport {
  /// A response in pieces, and what the head says.
  struct Reply: Sendable {
    var status = 200
    var headers: [String: String] = [:]
    var body: [Data] = []
    /// Awaited before a piece of the body, by its index.
    var beforePiece: @Sendable (Int) async -> Void = { _ in }
  }

  typealias Answer = @Sendable (HTTPRequest) async throws -> (status: Int, body: JSONValue)

  private let reply: @Sendable (HTTPRequest) async throws -> Reply
  private let sent = Locked<[HTTPRequest]>([])

  init(_ answer: @escaping Answer) {
    reply = { request in
      let (status, json) = try await answer(request)
      return Self.json(json, status: status)
    }
  }

  init(replying reply: @escaping @Sendable (HTTPRequest) async throws -> Reply) {
    self.reply = reply
  }

  /// One that responds to registering, signing in and refreshing by itself.
  static func withAccount(_ answer: @escaping Answer) -> ScriptedLarder {
    ScriptedLarder { request in
      if let answer = account(request) { return answer }
      return try await answer(request)
    }
  }

  static func replyingWithAccount(
    _ reply: @escaping @Sendable (HTTPRequest) async throws -> Reply
  ) -> ScriptedLarder {
    ScriptedLarder(replying: { request in
      if let answer = account(request) { return json(answer.body, status: answer.status) }
      return try await reply(request)
    })
  }

  /// A response as Larder sends it: a problem has `status` and `retry` besides its `code`.
  static func json(_ json: JSONValue, status: Int = 200) -> Reply {
    var json = json
    if status >= 400, case .object(var members) = json, members["code"] != nil {
      members["status"] = members["status"] ?? .number(JSONNumber(status))
      members["retry"] = members["retry"] ?? "never"
      json = .object(members)
    }
    let data = status == 204 ? Data() : json.data
    let type = status < 400 ? "application/json" : "application/problem+json"
    return Reply(
      status: status,
      headers: [
        "content-length": String(data.count), "content-type": type,
        "request-id": "1cc9013caf476cdb",
      ],
      body: [data])
  }

  /// JSON of another service behind Larder's address.
  static func foreign(_ json: JSONValue, status: Int = 200, _ headers: [String: String] = [:])
    -> Reply
  {
    var reply = Self.json([:], status: status)
    reply.body = [json.data]
    reply.headers = [
      "content-length": String(json.data.count), "content-type": "application/json",
    ].merging(headers) { _, other in other }
    return reply
  }

  /// Methods and paths of the requests so far.
  var requests: [String] {
    sent.withLock { $0.map { "\($0.method) \($0.path)" } }
  }

  func start(_ request: HTTPRequest, url: URL) -> HTTPExchange {
    sent.withLock { $0.append(request) }
    let (heads, head) = HTTPExchange.Heads.makeStream()
    let (bodies, body) = HTTPExchange.Body.makeStream()
    let task = Task {
      do {
        let reply = try await reply(request)
        head.yield(HTTPExchange.Head(status: reply.status, headers: reply.headers))
        for (index, piece) in reply.body.enumerated() {
          await reply.beforePiece(index)
          body.yield(piece)
        }
        head.finish()
        body.finish()
      } catch {
        head.finish(throwing: error)
        body.finish(throwing: error)
      }
    }
    return HTTPExchange(heads: heads, body: bodies) {
      task.cancel()
      let failure = LarderError.offline("cancelled", wasSent: true)
      head.finish(throwing: failure)
      body.finish(throwing: failure)
      return true
    }
  }

  /// What Larder responds to registering, signing in and refreshing, with numbered tokens.
  static func account(_ request: HTTPRequest, number: Int = 1) -> (status: Int, body: JSONValue)? {
    switch request.path {
    case "/v1/devices": (201, ["id": "d1", "deviceToken": "device"])
    case "/v1/auth/sign-in", "/v1/auth/refresh":
      (
        200,
        [
          "accessToken": .string("access\(number)"), "refreshToken": .string("refresh\(number)"),
          "expiresIn": 900, "userId": "u1",
        ]
      )
    case "/v1/auth/sign-out": (204, [:])
    default: nil
    }
  }

  static func open(
    _ transport: ScriptedLarder, credentials: (any CredentialStore)? = nil,
    url: String = "http://larder",
    options: Larder.Options = Larder.Options(), clock: @escaping @Sendable () -> Date = { Date() }
  ) async throws -> Larder {
    var options = options
    options.transport = transport
    options.clock = clock
    let url = try #require(URL(string: url))
    return try await Larder(url: url, store: .memory, credentials: credentials, options: options)
  }

  /// A phone whose device is registered.
  static func registered(
    _ transport: ScriptedLarder, options: Larder.Options = Larder.Options()
  ) async throws -> Larder {
    let larder = try await open(transport, options: options)
    try await larder.register()
    return larder
  }
}
