import FoundationEssentials
import HTTPServer
import HTTPWire
import TestSupport
import Testing
import Transport

/// No file outside the folder is served, whatever the path and whatever links are in the folder.
struct StaticFileEscapeTests {
  private static let secret = "top secret"

  /// `outside/secret.txt` beside `root`, and links to it from inside.
  private static func serve(_ body: (ServerFixture) async throws -> Void) async throws {
    let manager = FileManager.default
    let base = manager.temporaryDirectory.appendingPathComponent(
      "static-escape-\(UInt64.random(in: 0...UInt64.max))")
    defer { try? manager.removeItem(at: base) }
    let root = base.appendingPathComponent("root")
    let outside = base.appendingPathComponent("outside")
    try manager.createDirectory(
      at: root.appendingPathComponent("sub"), withIntermediateDirectories: true)
    try manager.createDirectory(at: outside, withIntermediateDirectories: true)
    for (file, text) in [
      (outside.appendingPathComponent("secret.txt"), secret),
      (outside.appendingPathComponent("index.html"), secret),
      (root.appendingPathComponent(".env"), secret),
      (root.appendingPathComponent("open.txt"), "open"),
      (root.appendingPathComponent("sub/deep.txt"), "deep"),
    ] {
      try Data(text.utf8).write(to: file)
    }
    for (link, target) in [
      ("link.txt", "../outside/secret.txt"), ("folder", "../outside"), ("env.txt", ".env"),
      ("absolute.txt", outside.appendingPathComponent("secret.txt").path), ("loop", "loop"),
      ("open.txt.gz", "../outside/secret.txt"), ("climb.txt", "sub/../../outside/secret.txt"),
      ("root", "../root"), ("back", "sub/../.."), ("rooted.txt", root.path + "/open.txt"),
      ("sub/out", "../folder"), ("hidden.txt", "sub/.././.env"), ("nowhere", "none.txt"),
      ("pipe.txt", "/proc/self/fd/0"), ("near.txt", "open.txt"), ("down.txt", "sub/deep.txt"),
      ("below", "sub"), ("sub/up.txt", "../open.txt"), ("twice.txt", "below/../near.txt"),
    ] {
      try manager.createSymbolicLink(
        atPath: root.appendingPathComponent(link).path, withDestinationPath: target)
    }
    let pool = LatePool()
    let router = try Router([
      Route(.get, "/{path...}") { request in
        guard let pool = pool.value else { return .text("not ready") }
        return await StaticFiles(root: root.path, pool: pool)
          .respond(to: request, path: request.parameters["path"] ?? "")
      }
    ])
    try await ServerFixture.serve(router) { server in
      pool.value = server.group.blockingPool
      try await body(server)
    }
  }

  @Test(
    "Files outside the folder are not served",
    arguments: [
      "/../outside/secret.txt", "/sub/../../outside/secret.txt", "/%2e%2e/outside/secret.txt",
      "/%2E%2E/outside/secret.txt", "/..%2foutside/secret.txt", "/..%2Foutside%2fsecret.txt",
      "/sub/..%2f..%2foutside/secret.txt", "/%2e%2e%2foutside/secret.txt",
      "/..%5coutside%5csecret.txt", "/..%c0%afoutside/secret.txt", "/%252e%252e/outside/secret.txt",
      "/....//outside/secret.txt", "//outside/secret.txt", "/./open.txt", "/sub/./deep.txt",
      "/.env", "/%2eenv", "/sub/.hidden", "/sub%2fdeep.txt", "/sub//deep.txt",
      "/open.txt%00.html", "/open.txt%00", "/%00", "/open.txt/", "/open.txt/.", "/open.txt/../.env",
      "/link.txt", "/folder/secret.txt", "/folder/", "/folder", "/env.txt", "/absolute.txt",
      "/loop",
      "/open.txt.gz", "/%ff%fe", "/%zz", "/climb.txt", "/root/open.txt", "/back/outside/secret.txt",
      "/rooted.txt", "/sub/out/secret.txt", "/below/out/secret.txt", "/hidden.txt", "/nowhere",
      "/pipe.txt", "/near.txt/", "/below/../open.txt",
    ])
  func doesNotServeFilesOutside(path: String) async throws {
    try await Self.serve { server in
      let response = try await server.withClient {
        try $0.request("GET", path, headers: [("Accept-Encoding", "gzip")])
      }
      #expect([400, 404].contains(response.status), "\(response.status)")
      #expect(!response.text.contains(Self.secret))
    }
  }

  @Test("Files inside the folder are served")
  func servesFilesInside() async throws {
    try await Self.serve { server in
      let texts = try await server.withClient { client in
        try [
          "/open.txt", "/sub/deep.txt", "/%6fpen.txt", "/near.txt", "/down.txt", "/below/deep.txt",
          "/sub/up.txt", "/below/up.txt", "/twice.txt",
        ].map {
          try client.request("GET", $0, headers: [("Accept-Encoding", "gzip")]).text
        }
      }
      #expect(
        texts == ["open", "deep", "open", "open", "deep", "deep", "open", "open", "open"])
    }
  }
}
