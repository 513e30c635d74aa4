import HTTPTypes
import HTTPWire
import Testing
import Transport

@testable import HTTPServer

struct RouterTests {
  private static func routes() -> [Route] {
    [
      (.get, "/"), (.get, "/films/{id}"), (.delete, "/films/{id}"), (.get, "/films/top"),
      (.put, "/films/special"), (.get, "/films/{id}/cast"), (.get, "/files/{path...}"),
      (.options, "/own"), (.get, "/own"), (.get, "/abc"), (.get, "/a%62c"),
      (.post, "/files/send"), (.post, "/files/{id}/again"),
    ].map { (method: RequestMethod, pattern: RoutePattern) in
      Route(method, pattern, content: ContentRule(bytesMax: method == .put ? 7 : nil)) { request in
        .text(
          "\(method.name) \(pattern) \(request.parameters["id"] ?? request.parameters["path"] ?? "-")"
        )
      }
    }
  }

  @Test(
    "The most literal route matches",
    arguments: [
      ("GET", "/", "GET / -"), ("GET", "/films/1", "GET /films/{id} 1"),
      ("GET", "/films/top", "GET /films/top -"), ("HEAD", "/films/top", "GET /films/top -"),
      ("GET", "/films/%74op", "GET /films/top -"), ("GET", "/a%62c", "GET /abc -"),
      ("GET", "/a%2562c", "GET /a%62c -"), ("GET", "/films/special", "GET /films/{id} special"),
      ("PUT", "/films/special", "PUT /films/special -"), ("HEAD", "/films/1", "GET /films/{id} 1"),
      ("GET", "/films/a%2Fb%20c", "GET /films/{id} a/b c"),
      ("GET", "/fi%6cms/1", "GET /films/{id} 1"),
      ("GET", "/films/1/cast", "GET /films/{id}/cast 1"),
      ("GET", "/files/a/b/c", "GET /files/{path...} a/b/c"),
      ("GET", "/files/", "GET /files/{path...} "),
      ("OPTIONS", "/own", "OPTIONS /own -"),
    ])
  func findsTheMostLiteralRoute(method: String, path: String, expected: String) async throws {
    let response = try await respond(method, path)
    guard case .bytes(let bytes) = response.body else {
      Issue.record("no body")
      return
    }
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test(
    "Unknown paths get a 404",
    arguments: [
      ("GET", "/none"), ("GET", "/films"), ("GET", "/films/"), ("GET", "/films/1/2"),
      ("GET", "/films/.."), ("GET", "/files/a/../b"), ("GET", "/films/%2e%2e"),
      ("GET", "/films/%ff"), ("POST", "/none"), ("OPTIONS", "/none"), ("TRACE", "/none"),
      // Whether a rest has something there is known only to its route.
      ("POST", "/files/a"), ("OPTIONS", "/files/a"),
    ])
  func unknownPathsAre404(method: String, path: String) async throws {
    let code = try await respond(method, path).status.code
    #expect(code == 404)
  }

  @Test("Other methods get a 405 with Allow")
  func otherMethodsAre405WithAllow() async throws {
    let response = try await respond("POST", "/films/1")
    #expect(response.status.code == 405)
    #expect(response.fields[.allow] == "GET, HEAD, DELETE, OPTIONS")
  }

  @Test(
    "A rest leaves paths alone that another pattern names",
    arguments: [
      "/files/send", "/files/1/again",
    ])
  func restHidesNoOtherMethod(path: String) async throws {
    for method in ["GET", "HEAD", "PUT"] {
      let response = try await respond(method, path)
      #expect(response.status.code == 405)
      #expect(response.fields[.allow] == "POST, OPTIONS")
    }
    #expect(try await respond("POST", path).status.code == 200)
    #expect(try await respond("OPTIONS", path).fields[.allow] == "POST, OPTIONS")
  }

  @Test("TRACE gets a 405 on every path")
  func traceIsRefusedEverywhere() async throws {
    let response = try await respond("TRACE", "/films/1")
    #expect(response.status.code == 405)
    #expect(response.fields[.allow] == "GET, HEAD, DELETE, OPTIONS")
  }

  @Test("A route can refuse methods with its own response")
  func routesCanRefuseMethodsThemselves() async throws {
    let router = try Router(
      ["/odd", "/odd/{key*}"].compactMap { RoutePattern($0) }.map { pattern in
        Route(
          .get, pattern, refuseMethod: { _ in .text("no", status: .conflict) },
          respond: { _ in .text("") })
      })
    for path in ["/odd", "/odd/a%2Fb"] {
      let response = await router.respond(
        to: ServerRequest(head: try head("PATCH", path), id: "test"))
      #expect(response.status.code == 409)
      #expect(response.fields[.allow] == "GET, HEAD, OPTIONS")
      let options = await router.respond(
        to: ServerRequest(head: try head("OPTIONS", path), id: "test"))
      #expect(options.status.code == 204)
    }
  }

  @Test("OPTIONS lists the methods")
  func optionsListsTheMethods() async throws {
    let response = try await respond("OPTIONS", "/films/special")
    #expect(response.status.code == 204)
    #expect(response.fields[.allow] == "GET, HEAD, PUT, DELETE, OPTIONS")
    let code = try await respond("OPTIONS", "*").status.code
    #expect(code == 204)
  }

  @Test("Two routes for the same method and path are refused")
  func twoRoutesForOnePlaceAreRefused() {
    let routes = ["/a/{x}", "/a/{y}"].compactMap { RoutePattern($0) }.map { pattern in
      Route(.get, pattern) { _ in .text("") }
    }
    #expect(throws: RouteTable.Conflict.self) { try RouteTable(routes) }
  }

  @Test("A route sets its own body limit")
  func routesSetTheirOwnBodyLimit() throws {
    let router = try Router(Self.routes())
    #expect(router.contentRoute(for: try head("PUT", "/films/special")).rule.bytesMax == 7)
    #expect(router.contentRoute(for: try head("DELETE", "/films/1")).rule == ContentRule())
    #expect(router.contentRoute(for: try head("PUT", "/nowhere")).rule == ContentRule())
  }

  @Test("The route found for the content responds, without a second look-up")
  func routeOfTheContentResponds() async throws {
    let route = try Router(Self.routes()).contentRoute(for: try head("PUT", "/films/special"))
    let request = ServerRequest(
      head: try head("PUT", "/films/special"), body: .empty, id: "test",
      remoteAddress: .unix(path: ""), client: nil, isSecure: false,
      receivedAt: LoopInstant(nanoseconds: 0), date: HTTPDate(secondsSince1970: 0), rates: nil,
      respond: route.respond)
    let response = try await Router([]).respond(to: request)
    #expect(response.status.code == 200)
  }

  @Test(
    "A 404 for a slash too much names the path without it",
    arguments: [
      ("GET", "/films/1/", "/films/1"), ("POST", "/films/top//", "/films/top"),
      ("HEAD", "/films/%74op/", "/films/%74op"), ("PUT", "/own/", "/own"),
    ])
  func namesPathWithoutSlash(method: String, path: String, right: String) async throws {
    let response = try await respond(method, path)
    #expect(response.status == .notFound)
    #expect(response.fields[.location] == nil)
    guard case .bytes(let bytes) = response.body else {
      Issue.record("no body")
      return
    }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("There is one at \(right), without a slash at the end."), "\(text)")
  }

  @Test(
    "Without such a path the message says nothing of a slash",
    arguments: ["/none/", "/films/", "/films/1/2/", "//", "/films/../own/", "/films/%2e%2e/"])
  func namesNoOtherPath(path: String) async throws {
    let response = try await respond("GET", path)
    #expect(response.status == .notFound)
    guard case .bytes(let bytes) = response.body else { return }
    #expect(!String(decoding: bytes, as: UTF8.self).contains("without a slash"))
  }

  @Test("A route for everything else names the path too, and keeps what it serves")
  func restsNamePaths() async throws {
    let router = try Router([
      Route(.get, "/own") { _ in .text("own") },
      Route(.get, "/{path...}") { request in
        request.parameters["path"] == "folder/"
          ? .text("folder") : .problem(.notFound, for: request)
      },
    ])
    func text(_ path: String) async throws -> String {
      let request = ServerRequest(head: try head("GET", path), id: "test")
      guard case .bytes(let bytes) = await router.respond(to: request).body else { return "" }
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(try await text("/own/").contains("There is one at /own, without"))
    #expect(try await text("/folder/") == "folder")
    #expect(try await !text("/other/").contains("without a slash"))
  }

  private func respond(_ method: String, _ path: String) async throws -> ServerResponse {
    let router = try Router(Self.routes())
    return await router.respond(to: ServerRequest(head: try head(method, path), id: "test"))
  }

  private func head(_ method: String, _ path: String) throws -> RequestHead {
    var parser = RequestParser()
    let text = "\(method) \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
    _ = try Array(text.utf8).withUnsafeBytes { try parser.parse($0) }
    return parser.head
  }
}

struct RoutePatternTests {
  @Test(
    "Route patterns are parsed",
    arguments: ["/", "/films/{id}", "/files/{path...}", "/v1/a.b/{x}/c"])
  func parsesPatterns(text: String) {
    #expect(RoutePattern(text)?.description == text)
  }

  @Test(
    "Malformed route patterns are refused",
    arguments: ["", "films", "/{}", "/{a", "/a}", "/{a}/{a}", "/{a...}/b", "/x{a}"])
  func refusesMalformedPatterns(text: String) {
    #expect(RoutePattern(text) == nil)
  }
}
