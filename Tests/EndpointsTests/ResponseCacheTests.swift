import Gateway
import HTTPServer
import HTTPWire
import Model
import Testing

@testable import Endpoints

/// The responses that are served on the loop without a handler, and those that must not be.
struct ResponseCacheTests {
  static let body = Array(#"{"data":{"film":{"id":"1"}}}"#.utf8)
  let cursors = CursorIssuer(
    codec: CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor)), segment: 1,
    schemaVersion: 1, head: Revision(1))

  func responseCache(forwarded: [String] = ["authorization"], hasCORS: Bool = false)
    -> ResponseCache
  {
    ResponseCache(cursors: cursors, forwardedNames: forwarded, hasCORS: hasCORS, bytesMax: 1 << 20)
  }

  /// An entry received at 1,000 s and fresh for a minute.
  func entry(
    cache: RenderedCache = RenderedCache(byteLimit: 1 << 20), authorization: String? = nil,
    epoch: CredentialEpoch = CredentialEpoch(), gzipped: [UInt8]? = nil
  ) throws -> CachedResponse {
    let fields = authorization.map { [("Authorization", $0)] } ?? []
    return CachedResponse(
      key: try #require(responseCache().key(of: try head("GET", "/api/films/1", fields))),
      rendered: rendered(in: cache), epoch: epoch, epochNumber: 0, viewer: .anonymous,
      isPrivate: false, forwardedNames: [],
      gzipped: gzipped)
  }

  func rendered(in cache: RenderedCache) -> RenderedResponse {
    let rendered = RenderedResponse(
      key: ResultKey(operation: "Film", variables: "{}", scope: .public), body: Self.body,
      received: Timestamp(milliseconds: 1_000_000), policy: CachePolicy(maxAge: .seconds(60)),
      dependencies: .init(
        operation: "Film", tags: [], types: ["Film"],
        entities: [EntityKey(type: "Film", key: "1")]),
      hasErrors: false)
    cache.remember(rendered, ticket: cache.ticket())
    return rendered
  }

  func response(
    _ responseCache: ResponseCache, _ head: RequestHead, atSecond second: Int64 = 1_010
  ) -> String? {
    let stamp = ResponseStamp(seed: 1)
    stamp.setTime(secondsSince1970: second)
    guard let found = responseCache.find(head) else { return nil }
    var output: [UInt8] = []
    guard responseCache.write(found, for: head, stamp: stamp, to: &output) else {
      #expect(output.isEmpty)
      return nil
    }
    return String(decoding: output, as: UTF8.self)
  }

  @Test("A response stamped by a clock that was ahead is not served as fresh")
  func refusesResponsesFromTheFuture() throws {
    let responseCache = responseCache()
    responseCache.keep(try entry())
    for second: Int64 in [900, 990, 997] {
      #expect(try response(responseCache, head("GET", "/api/films/1"), atSecond: second) == nil)
    }
    // The loop's clock lags by less than the second it counts in.
    #expect(try response(responseCache, head("GET", "/api/films/1"), atSecond: 999) != nil)
  }

  @Test("A hit is a complete response")
  func servesCompleteResponse() throws {
    let responseCache = responseCache()
    responseCache.keep(try entry())
    let text = try #require(response(responseCache, try head("GET", "/api/films/1")))
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:16:50 GMT\r\n"))
    #expect(text.contains("\r\nAge: 10\r\n"))
    #expect(text.contains("\r\nCache-Status: larder; hit; ttl=49\r\n"))
    #expect(text.contains("\r\nCache-Control: public, max-age=60\r\n"))
    #expect(text.contains("\r\nContent-Length: \(Self.body.count)\r\n"))
    #expect(text.hasSuffix("\r\n\r\n" + String(decoding: Self.body, as: UTF8.self)))
  }

  @Test("Cached responses vary by origin if CORS is on")
  func variesByOriginWithCORS() {
    #expect(
      responseCache(forwarded: ["x-role"], hasCORS: true).varyingNames == ["x-role", "Origin"])
    #expect(responseCache(forwarded: ["x-role"]).varyingNames == ["x-role"])
  }

  @Test("When half its bounds are used, the cache drops entries not requested since the last time")
  func dropsUnusedGeneration() throws {
    final class Entry: ResponseCacheEntry {
      let key: PlainRequestKey
      let byteCount: Int
      init(_ key: PlainRequestKey, _ byteCount: Int) {
        self.key = key
        self.byteCount = byteCount
      }
    }
    let keys = try (0...7).map { try #require(responseCache().key(of: try head("GET", "/\($0)"))) }
    var entries = CacheGenerations<Entry>(countMax: 4, bytesMax: 200)
    func entry(_ number: Int) -> Entry? { entries.find(keys[number].hash) }
    entries.keep(Entry(keys[1], 60))
    // Replacing or removing an entry frees its bytes.
    entries.keep(Entry(keys[1], 30))
    let second = Entry(keys[2], 60)
    entries.keep(second)
    #expect(entry(1) != nil && entry(2) === second)
    entries.remove(Entry(keys[2], 60))
    #expect(entry(2) === second)
    entries.remove(second)
    #expect(entry(2) == nil)
    // The first is requested each time, and so outlives two more generations; the others are dropped.
    for number in 3...7 {
      entries.keep(Entry(keys[number], 60))
      #expect(entry(1) != nil && entry(number) != nil)
    }
    #expect(entry(3) == nil && entry(4) == nil)
    entries.keep(Entry(keys[2], 101))
    #expect(entry(2) == nil, "larger than half of the bound")
  }

  @Test("HEAD has no body, and a matching entity tag gets a 304")
  func servesHeadAndNotModified() throws {
    let responseCache = responseCache()
    let entry = try entry()
    responseCache.keep(entry)
    let headText = try #require(response(responseCache, try head("HEAD", "/api/films/1")))
    #expect(headText.hasSuffix("\r\n\r\n"))
    let tag = "\"\(entry.rendered.tag)\""
    for condition in [tag, "W/\(tag)", "\"a\", \(tag)", "*"] {
      let text = try #require(
        response(responseCache, try head("GET", "/api/films/1", ("If-None-Match", condition))))
      #expect(text.hasPrefix("HTTP/1.1 304 Not Modified\r\n"), "\(condition)")
      #expect(text.hasSuffix("\r\n\r\n"))
      #expect(!text.contains("Content-Length"))
      #expect(text.contains("ETag: \(tag)"))
    }
    let other = try #require(
      response(responseCache, try head("GET", "/api/films/1", ("If-None-Match", "\"a\""))))
    #expect(other.hasPrefix("HTTP/1.1 200"))
  }

  @Test("A stale or invalidated response is left to the router")
  func leavesStaleResponsesToTheRouter() throws {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let responseCache = responseCache()
    responseCache.keep(try entry(cache: cache))
    #expect(response(responseCache, try head("GET", "/api/films/1"), atSecond: 1_059) != nil)
    #expect(response(responseCache, try head("GET", "/api/films/1"), atSecond: 1_060) == nil)
    cache.note(
      CommitReport(
        revision: Revision(2),
        changes: [.init(scope: .public, key: EntityKey(type: "Film", key: "1"))],
        invalidated: [], resultChanged: false, isExact: true, head: Revision(2)))
    #expect(response(responseCache, try head("GET", "/api/films/1")) == nil)
  }

  @Test(
    "A request that differs in method, target or a relevant field is left to the router",
    arguments: [
      ("POST", "/api/films/1", []), ("GET", "/api/films/2", []), ("GET", "/api/films/1?a=1", []),
      ("GET", "/api/films/1", [("Cache-Control", "no-cache")]),
      ("GET", "/api/films/1", [("Pragma", "no-cache")]),
      ("GET", "/api/films/1", [("Authorization", "Bearer a")]),
      ("GET", "/api/films/1", [("Device-Token", "x")]),
      ("GET", "/api/films/1", [("X-Role", "editor")]),
      ("GET", "/api/films/1", [("Cookie", "a=b")]),
      ("GET", "/api/films/1", [("Origin", "https://a.b")]),
      ("GET", "/api/films/1", [("Connection", "close")]),
      ("GET", "/api/films/1", [("If-Match", "\"x\"")]),
    ])
  func leavesOtherRequestsToTheRouter(
    method: String, target: String, fields: [(String, String)]
  ) throws {
    let responseCache = responseCache(
      forwarded: ["authorization", "cookie", "x-role"], hasCORS: true)
    responseCache.keep(try entry())
    #expect(response(responseCache, try head("GET", "/api/films/1")) != nil)
    #expect(response(responseCache, try head(method, target, fields)) == nil)
  }

  @Test("A response cached before all credentials were invalidated is not served")
  func endOfEpochInvalidatesResponses() throws {
    let responseCache = responseCache()
    let epoch = CredentialEpoch()
    responseCache.keep(try entry(authorization: "Bearer a", epoch: epoch))
    let asked = try head("GET", "/api/films/1", ("Authorization", "Bearer a"))
    #expect(response(responseCache, asked) != nil)
    epoch.end()
    #expect(response(responseCache, asked) == nil)
  }

  @Test("A response is served only to the same credential")
  func separatesCredentials() throws {
    let responseCache = responseCache()
    responseCache.keep(try entry(authorization: "Bearer a"))
    #expect(
      response(responseCache, try head("GET", "/api/films/1", ("Authorization", "Bearer a"))) != nil
    )
    #expect(
      response(responseCache, try head("GET", "/api/films/1", ("Authorization", "Bearer b"))) == nil
    )
    #expect(response(responseCache, try head("GET", "/api/films/1")) == nil)
  }

  @Test("The content coding follows Accept-Encoding")
  func choosesContentCoding() throws {
    let responseCache = responseCache()
    responseCache.keep(try entry(gzipped: [1, 2, 3]))
    let coded = try #require(
      response(responseCache, try head("GET", "/api/films/1", ("Accept-Encoding", "gzip"))))
    #expect(coded.contains("Content-Encoding: gzip") && coded.contains("-gzip\""))
    let plain = try #require(
      response(responseCache, try head("GET", "/api/films/1", ("Accept-Encoding", "gzip;q=0"))))
    #expect(!plain.contains("Content-Encoding"))
  }

  @Test("A cached response is used until a commit touches its entities")
  func commitInvalidatesResponse() throws {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let responseCache = responseCache()
    responseCache.keep(try entry(cache: cache))
    let head = try head("GET", "/api/films/1")
    #expect(response(responseCache, head) != nil)
    cache.note(
      CommitReport(
        revision: Revision(2),
        changes: [.init(scope: .public, key: EntityKey(type: "Film", key: "1"))],
        invalidated: [], resultChanged: false, isExact: true, head: Revision(2)))
    #expect(response(responseCache, head) == nil)
  }

  @Test("The response contains the request's own id")
  func echoesRequestID() throws {
    let responseCache = responseCache()
    responseCache.keep(try entry())
    let head = try head("GET", "/api/films/1", ("Request-Id", "mine"))
    #expect(response(responseCache, head)?.contains("Request-Id: mine") == true)
  }
}

/// Responses to GraphQL clients in the same cache.
extension ResponseCacheTests {
  private static let target = "/v1/graphql?documentId=a"
  private static let newer = ("Accept", "application/graphql-response+json")

  private func cached(as fields: [(String, String)]) throws -> ResponseCache {
    let responseCache = responseCache()
    responseCache.keep(
      CachedResponse(
        key: try #require(responseCache.key(of: try head("GET", Self.target, fields))),
        rendered: rendered(in: RenderedCache(byteLimit: 1 << 20)), epoch: CredentialEpoch(),
        epochNumber: 0, viewer: .anonymous, isPrivate: false, forwardedNames: [], gzipped: nil))
    return responseCache
  }

  @Test("A response to a GraphQL client has the media type that it accepts, and the same body")
  func servesGraphQLClients() throws {
    for (fields, type) in [
      ([Self.newer], "application/graphql-response+json"), ([], "application/json"),
      ([("Accept", "application/json")], "application/json"),
    ] {
      let text = try #require(
        response(try cached(as: fields), try head("GET", Self.target, fields)))
      #expect(text.contains("\r\nContent-Type: \(type)\r\n"))
      #expect(text.contains("\r\nVary: Accept, Accept-Encoding, Authorization, Device-Token\r\n"))
      #expect(text.hasSuffix("\r\n\r\n" + String(decoding: Self.body, as: UTF8.self)))
    }
  }

  @Test(
    "A GraphQL response is served only in the form that was stored",
    arguments: [
      [], [("Accept", "application/json")], [("Accept", "text/event-stream")],
      [("Accept", "text/html")], [newer, ("Upgrade", "websocket"), ("Connection", "Upgrade")],
      [newer, ("Device-Token", "d")], [newer, ("Authorization", "Bearer a")],
    ] as [[(String, String)]])
  func leavesOtherFormsToTheRouter(fields: [(String, String)]) throws {
    let responseCache = try cached(as: [Self.newer])
    #expect(response(responseCache, try head("GET", Self.target, [Self.newer])) != nil)
    #expect(response(responseCache, try head("GET", Self.target, fields)) == nil)
    #expect(try cached(as: []).find(head("GET", Self.target, [Self.newer])) == nil)
  }

  private static let content = Array(#"{"documentId":"a","variables":{"id":"1"}}"#.utf8)

  private func posted(
    _ content: [UInt8] = Self.content, _ fields: [(String, String)] = [],
    type: String? = "application/json", to target: String = "/v1/graphql"
  ) throws -> RequestHead {
    let own = type.map { [("Content-Type", $0)] } ?? []
    return try head(
      "POST", target, own + [("Content-Length", "\(content.count)")] + fields)
  }

  private func found(
    _ responseCache: ResponseCache, _ head: RequestHead, _ content: [UInt8] = Self.content
  ) -> CachedResponse? {
    content.withUnsafeBytes { responseCache.find(head, content: $0) }
  }

  @Test("A query sent by POST is served for the same content alone, never as 304")
  func servesPostedQueries() throws {
    let responseCache = responseCache()
    let request = try posted()
    let stored = CachedResponse(
      key: try #require(responseCache.key(of: request, content: Self.content)),
      rendered: rendered(in: RenderedCache(byteLimit: 1 << 20)), epoch: CredentialEpoch(),
      epochNumber: 0, viewer: .anonymous, isPrivate: false, forwardedNames: [], gzipped: nil)
    responseCache.keep(stored)
    let tag = String(decoding: stored.identity.entityTag, as: UTF8.self)
    for fields in [[], [("If-None-Match", tag)]] {
      let stamp = ResponseStamp(seed: 1)
      stamp.setTime(secondsSince1970: 1_010)
      let head = try posted(Self.content, fields)
      var output: [UInt8] = []
      let entry = try #require(found(responseCache, head))
      #expect(responseCache.write(entry, for: head, stamp: stamp, to: &output))
      let text = String(decoding: output, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(text.hasSuffix("\r\n\r\n" + String(decoding: Self.body, as: UTF8.self)))
    }
    var other = Self.content
    other[other.count - 4] = UInt8(ascii: "2")
    #expect(found(responseCache, try posted(other), other) == nil)
    #expect(found(responseCache, try head("GET", "/v1/graphql"), []) == nil)
    for fields in [
      ("Authorization", "Bearer a"), ("Device-Token", "d"), ("Cache-Control", "no-cache"),
      ("Content-Encoding", "gzip"), ("Accept", "application/graphql-response+json"),
      ("Connection", "close"),
    ] {
      #expect(found(responseCache, try posted(Self.content, [fields])) == nil, "\(fields)")
    }
  }

  @Test("Content that the router must judge is neither stored nor served")
  func leavesOtherContentToTheRouter() throws {
    let responseCache = responseCache()
    let long = [UInt8](repeating: UInt8(ascii: " "), count: 4097)
    for (head, content) in [
      (try posted(type: "text/plain"), Self.content), (try posted(type: nil), Self.content),
      (try posted(to: "/v1/graphql?a=1"), Self.content),
      (try posted(to: "/v1/operations/Film"), Self.content), (try posted(long), long),
      (try posted([]), []), (try posted(), []),
    ] {
      #expect(responseCache.key(of: head, content: content) == nil)
      #expect(found(responseCache, head, content) == nil)
    }
  }
}
