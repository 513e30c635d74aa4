import Gateway
import HTTPServer
import HTTPWire
import Model
import Testing

@testable import Endpoints

/// The responses that the writer stores for later requests.
struct ReadResponseWriterTests {
  private static let forwardedNames = ["authorization", "cookie", "x-tenant", "x-team"]
  private static let target = "/api/me"

  private let cursors = CursorIssuer(
    codec: CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor)), segment: 1,
    schemaVersion: 1, head: Revision(1))
  private let cache = RenderedCache(byteLimit: 1 << 20)

  /// Every combination of the fields that a response can depend on, each absent or with one of two
  /// values.
  private static let combinations: [[(String, String)]] = {
    let names = ["Authorization", "Cookie", "X-Tenant", "X-Team", "Device-Token", "Origin"]
    return names.reduce([[]]) { combinations, name in
      combinations.flatMap { fields in
        [fields, fields + [(name, "Bearer one")], fields + [(name, "Bearer two")]]
      }
    }
  }()

  private func writer(_ responseCache: ResponseCache) -> ReadResponseWriter {
    ReadResponseWriter(
      cursors: cursors, cache: responseCache, forwardedNames: Self.forwardedNames,
      compressionBytesMin: 1_000)
  }

  private func responseCache() -> ResponseCache {
    ResponseCache(
      cursors: cursors, forwardedNames: Self.forwardedNames, hasCORS: true, bytesMax: 1 << 20)
  }

  private func read() -> ReadResponse {
    let rendered = RenderedResponse(
      key: ResultKey(operation: "Me", variables: "{}", scope: .public), body: [0x7B, 0x7D],
      received: Timestamp(milliseconds: 1_000_000), policy: CachePolicy(maxAge: .seconds(60)),
      dependencies: .init(operation: "Me", tags: [], types: [], entities: []), hasErrors: false)
    cache.remember(rendered, ticket: cache.ticket())
    return ReadResponse(
      rendered: rendered, outcome: .hit(ttl: .seconds(60)), age: .zero, viewer: .anonymous)
  }

  @Test("A stored response is found only by requests with the same credential and no other field")
  func storedResponsesStayWithTheirRequests() throws {
    #expect(Self.combinations.count == 729)
    var found = 0
    for stored in Self.combinations {
      let responseCache = responseCache()
      let writer = writer(responseCache)
      let request = ServerRequest(head: try head("GET", Self.target, stored), id: "r-1")
      _ = writer.response(to: writer.begin(request, caller: .anonymous, epoch: 0), read: read())
      for asked in Self.combinations {
        guard responseCache.find(try head("GET", Self.target, asked)) != nil else { continue }
        found += 1
        #expect(asked.map(\.0) == stored.map(\.0) && asked.map(\.1) == stored.map(\.1))
        #expect(asked.allSatisfy { $0.0 == "Authorization" })
      }
    }
    // Without any field, and with either credential.
    #expect(found == 3)
  }

  @Test("Only the response to a plain GET is stored")
  func onlyPlainRequestsStore() throws {
    let requests: [(String, [(String, String)])] = [
      ("HEAD", []), ("POST", []), ("GET", [("Cache-Control", "max-age=5")]),
      ("GET", [("Connection", "close")]), ("GET", [("If-Match", "\"a\"")]),
      ("GET", [("Content-Length", "3")]),
    ]
    for (method, fields) in requests {
      let responseCache = responseCache()
      let writer = writer(responseCache)
      let request = ServerRequest(head: try head(method, Self.target, fields), id: "r-1")
      _ = writer.response(to: writer.begin(request, caller: .anonymous, epoch: 0), read: read())
      #expect(responseCache.find(try head("GET", Self.target)) == nil, "\(method) \(fields)")
    }
  }
}
