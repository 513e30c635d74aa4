import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

/// A service with the film library as upstream, for tests that take its storage away.
final class TroubledSite {
  let demo: DemoServer
  let folder: ServiceFolder
  private(set) var larder: LarderProcess

  init(
    data: String? = nil, listen: String = "127.0.0.1:0", settings: String = ""
  ) async throws {
    demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
    try await demo.start()
    folder = try ServiceFolder(upstream: demo.url, data: data, listen: listen, settings: settings)
    larder = try await LarderProcess.serve(folder)
  }

  func end() async throws {
    #expect(try await larder.terminate() == 0, "\(larder.errors)")
    await demo.stop()
  }

  /// Restarts the service, which has ended.
  func startAgain() async throws {
    larder = try await LarderProcess.serve(folder)
  }

  @discardableResult
  func get(_ target: String, _ headers: (String, String)...) async throws -> RawResponse {
    let port = larder.port
    return try await onOwnThread {
      try RawClient(port: port).request("GET", target, headers: headers)
    }
  }

  @discardableResult
  func update(
    _ film: String, title: String, synopsis: String? = nil
  ) async throws -> RawResponse {
    let port = larder.port
    let patch: JSONValue =
      synopsis.map { ["title": .string(title), "synopsis": .string($0)] }
      ?? ["title": .string(title)]
    return try await onOwnThread {
      try RawClient(port: port).mutate("UpdateFilm", ["id": .string(film), "patch": patch])
    }
  }

  func purge(_ type: String) async throws -> RawResponse {
    let port = larder.port
    return try await onOwnThread {
      try RawClient(port: port).request(
        "POST", "/v1/admin/purge",
        headers: [
          ("Content-Type", "application/json"),
          ("Authorization", "Bearer \(ServiceFolder.adminToken)"),
        ],
        body: #"{"type":"\#(type)"}"#)
    }
  }

  /// Reads films until a response is not stored.
  ///
  /// - Returns: the number of that film; the test fails if all are stored.
  func firstNotStored(among films: Range<Int>) async throws -> Int {
    for film in films {
      let answer = try await get("/api/films/f\(film)")
      #expect(answer.status == 200, "\(answer.text)")
      if !answer.isStored { return film }
    }
    Issue.record("the disk is not full")
    return films.upperBound
  }

  /// Expects reads to succeed and nothing to be stored; writes and readiness report the store, and upstream
  /// gets no write.
  ///
  /// - Parameters:
  ///   - stored: a film that was read before.
  ///   - fresh: a film that was never read.
  func expectReadsOnly(stored: String, fresh: String) async throws {
    let known = try await get(stored)
    #expect(known.status == 200)
    #expect(known.cacheStatus.hasPrefix("larder; hit"), "\(known.cacheStatus)")
    for headers in [[], [("Cache-Control", "no-cache")]] {
      for target in [fresh, stored] {
        let answer = try await headers.isEmpty ? get(target) : get(target, headers[0])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(!answer.isStored, "\(target): \(answer.cacheStatus)")
      }
    }
    let executed = demo.report["UpdateFilm"].executed
    let change = try await update("f1", title: "never")
    expectUnavailable(change)
    #expect(demo.report["UpdateFilm"].executed == executed)
    expectUnavailable(try await purge("Film"))
    #expect(try await get("/readyz").status == 503)
    #expect(larder.isRunning)
  }

  private func expectUnavailable(_ answer: RawResponse) {
    #expect(answer.status == 503, "\(answer.text)")
    #expect(answer.text.contains("\"code\":\"storage_unavailable\""), "\(answer.text)")
    #expect(answer["retry-after"] != nil)
  }

  /// Expects everything to work, with the same process as before.
  func expectEverything() async throws {
    let isReady = await Moment.comes(withinSeconds: 10) { [self] in
      try await get("/readyz").status == 200
    }
    #expect(isReady)
    #expect(try await get("/api/films/f900").isStored)
    #expect(try await update("f1", title: "after").status == 200)
    #expect(try await get("/api/films/f1").text.contains("\"title\":\"after\""))
    #expect(try await purge("Film").status == 200)
    #expect(try await get("/api/films/f1").cacheStatus.contains("fwd="))
  }
}
