import HTTPServer
import HTTPTypes
import HTTPWire
import Testing

struct EncodedPathTests {
  private static func router() throws -> Router {
    let routes: [(RequestMethod, RoutePattern)] = [
      (.get, "/objects/{bucket}"), (.get, "/objects/{bucket}/{key*}"),
      (.put, "/objects/{bucket}/{key*}"), (.get, "/objects/b/literal"), (.get, "/{path...}"),
    ]
    return try Router(
      routes.map { method, pattern in
        Route(method, pattern, content: ContentRule(keepsCoding: method == .put)) { request in
          let names = ["bucket", "key", "path"].compactMap { request.parameters[$0] }
          return .text("\(method.name) \(pattern) \(names.joined(separator: " "))")
        }
      })
  }

  @Test(
    "An encoded rest is passed undecoded",
    arguments: [
      ("/objects/b/k", "GET /objects/{bucket}/{key*} b k"),
      ("/objects/b/a%2fb/../c", "GET /objects/{bucket}/{key*} b a%2fb/../c"),
      ("/objects/b//", "GET /objects/{bucket}/{key*} b /"),
      ("/objects/b/%ff%00", "GET /objects/{bucket}/{key*} b %ff%00"),
      ("/objects/b/", "GET /objects/{bucket}/{key*} b "),
      ("/objects/a%20b/k", "GET /objects/{bucket}/{key*} a b k"),
      ("/objects/b", "GET /objects/{bucket} b"),
      ("/objects/b/literal", "GET /objects/{bucket}/{key*} b literal"),
      ("/objects", "GET /{path...} objects"),
      ("/other/b/k", "GET /{path...} other/b/k"),
    ])
  func keepsAnEncodedRestUndecoded(path: String, expected: String) async throws {
    let response = try await Self.respond("GET", path)
    guard case .bytes(let bytes) = response.body else {
      Issue.record("no body")
      return
    }
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test("An encoded rest can have many segments")
  func takesManySegments() async throws {
    let path = "/objects/b/" + String(repeating: "a/", count: 500)
    #expect(try await Self.respond("GET", path).status.code == 200)
  }

  @Test("A 405 lists the methods of an encoded path")
  func listsTheMethods() async throws {
    let response = try await Self.respond("DELETE", "/objects/b/..")
    #expect(response.status.code == 405)
    #expect(response.fields[.allow] == "GET, HEAD, PUT, OPTIONS")
  }

  @Test("Two routes for the same encoded path are refused")
  func refusesTheSamePlaceTwice() {
    let route = Route(.get, "/objects/{key*}") { _ in .text("") }
    #expect(throws: RouteTable.Conflict.self) { _ = try RouteTable([route, route]) }
    let renamed = Route(.get, "/objects/{name*}") { _ in .text("") }
    #expect(throws: RouteTable.Conflict.self) { _ = try RouteTable([route, renamed]) }
  }

  @Test(
    "Malformed patterns with an encoded rest are refused",
    arguments: ["/a/{key*}/b", "/a/{*}", "/a/{key*}/{rest...}"])
  func refusesMalformedEncodedPatterns(text: String) {
    #expect(RoutePattern(text) == nil)
  }

  private static func respond(_ method: String, _ path: String) async throws -> ServerResponse {
    var parser = RequestParser()
    let text = "\(method) \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
    _ = try Array(text.utf8).withUnsafeBytes { try parser.parse($0) }
    return try await router().respond(to: ServerRequest(head: parser.head, id: "test"))
  }
}
