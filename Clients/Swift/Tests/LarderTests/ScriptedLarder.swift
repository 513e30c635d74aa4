import Foundation

@testable import Larder

/// Responses by a script, in place of a connection.
final class ScriptedLarder: HTTPTransport {
  typealias Answer = @Sendable (HTTPRequest) throws -> (status: Int, body: JSONValue)

  private let answer: Answer
  private let sent = Locked<[HTTPRequest]>([])

  init(_ answer: @escaping Answer) {
    self.answer = answer
  }

  /// Methods and paths of the requests so far.
  var requests: [String] {
    sent.withLock { $0.map { "\($0.method) \($0.path)" } }
  }

  func start(_ request: HTTPRequest, url: URL) -> HTTPExchange {
    sent.withLock { $0.append(request) }
    let (heads, head) = HTTPExchange.Heads.makeStream()
    let (bodies, body) = HTTPExchange.Body.makeStream()
    do {
      let (status, json) = try answer(request)
      let data = json.data
      head.yield(
        HTTPExchange.Head(status: status, headers: ["content-length": String(data.count)]))
      body.yield(data)
      head.finish()
      body.finish()
    } catch {
      head.finish(throwing: error)
      body.finish(throwing: error)
    }
    return HTTPExchange(heads: heads, body: bodies) {}
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
    clock: @escaping @Sendable () -> Date = { Date() }
  ) async throws -> Larder {
    var options = Larder.Options()
    options.transport = transport
    options.clock = clock
    let url = URL(fileURLWithPath: "/")
    return try await Larder(url: url, store: .memory, credentials: credentials, options: options)
  }
}
