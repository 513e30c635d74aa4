import Foundation
import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization

/// An upstream whose responses contain the credentials and partitions of the request.
///
/// The user, the films and their texts are named after the values of the header fields, so that a
/// response that reaches another caller can be detected.
package final class EchoUpstream: Sendable {
  /// Header fields whose values are echoed, in lower case.
  package static let names = ["authorization", "cookie", "x-tenant", "x-team"]

  private let server: VendorServer
  private let counts: Counts

  private final class Counts: Sendable {
    let requests = Mutex<[String: Int]>([:])
  }

  package var url: String { "http://127.0.0.1:\(server.port)/graphql" }

  package static func start() async throws -> EchoUpstream {
    let counts = Counts()
    return EchoUpstream(
      try await VendorServer { request in
        let body = (try? JSONValue(parsing: request.body)) ?? .null
        let operation = body["operationName"]?.string ?? ""
        counts.requests.withLock { $0[operation, default: 0] += 1 }
        let who = names.compactMap { name in
          HTTPField.Name(name).flatMap { request.fields[$0] }.map(word)
        }
        return HTTPClientResponse(
          status: .ok, body: answer(operation, who.joined(separator: "-")).bytes)
      }, counts)
  }

  private init(_ server: VendorServer, _ counts: Counts) {
    self.server = server
    self.counts = counts
  }

  package func stop() async { await server.stop() }

  package func requests(of operation: String) -> Int {
    counts.requests.withLock { $0[operation] ?? 0 }
  }

  /// The last word of a field's value; for a signed token its subject.
  private static func word(of value: String) -> String {
    let token = value.split(whereSeparator: { $0 == " " || $0 == "=" }).last.map(String.init) ?? ""
    let parts = token.split(separator: ".")
    guard parts.count == 3 else { return token }
    var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    let claims = Data(base64Encoded: text).flatMap { try? JSONValue(parsing: Array($0)) }
    return claims?["sub"]?.string ?? token
  }

  private static func answer(_ operation: String, _ who: String) -> JSONValue {
    let name = who.isEmpty ? "nobody" : who
    let films: JSONValue = .array(
      (1...2).map { number in
        [
          "__typename": "Film", "id": .string("f\(number)-\(name)"),
          "title": .string("Film \(number) of \(name)"),
        ]
      })
    switch operation {
    case "List", "Team": return ["data": ["watchlist": films]]
    default:
      return [
        "data": [
          "me": [
            "__typename": "User", "id": .string("u-\(name)"), "name": .string("Name of \(name)"),
          ]
        ]
      ]
    }
  }
}
