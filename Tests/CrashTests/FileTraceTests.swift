import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// The syncing of an object before its writer gets the response, as system calls show it.
  struct FileTraceTests {
    private static let refused: Comment = "ptrace is not permitted here"
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
      """

    @Test(
      "Content and its name are synced before the index, and the index before a response",
      .enabled(if: SystemCalls.mayBeTraced, refused))
    func putSyncsContentBeforeTheIndex() async throws {
      let calls = try await Self.calls { client in
        try Self.ask(client, "PUT", "put", body: "first")
        try Self.ask(client, "PUT", "put", body: "second")
      }
      try Self.expectWrite("PUT /v1/files/pics/put", at: 0, in: calls, replaces: false)
      try Self.expectWrite("PUT /v1/files/pics/put", at: 1, in: calls, replaces: true)
    }

    @Test(
      "Parts and the object that they become are synced",
      .enabled(if: SystemCalls.mayBeTraced, refused))
    func partsAndCompletionAreSynced() async throws {
      let calls = try await Self.calls { client in
        let begun = try Self.ask(client, "POST", "long/uploads")
        let upload = try #require(try JSONValue(parsing: begun.body)["uploadId"]?.string)
        let first = String(repeating: "1", count: 5 << 20)
        try Self.ask(client, "PUT", "long?partNumber=1&uploadId=\(upload)", body: first)
        try Self.ask(client, "PUT", "long?partNumber=2&uploadId=\(upload)", body: "end")
        try Self.ask(client, "POST", "long?uploadId=\(upload)", json: "{}")
      }
      try Self.expectWrite("PUT /v1/files/pics/long?partNumber=1", in: calls, replaces: false)
      try Self.expectWrite("PUT /v1/files/pics/long?partNumber=2", in: calls, replaces: false)
      try Self.expectWrite("POST /v1/files/pics/long?uploadId", in: calls, replaces: true)
    }

    /// The copy is another name of content that is on disk already.
    @Test("A copy syncs its new name", .enabled(if: SystemCalls.mayBeTraced, refused))
    func copySyncsItsName() async throws {
      let calls = try await Self.calls { client in
        try Self.ask(client, "PUT", "from", body: "content")
        try Self.ask(client, "PUT", "to", body: "before")
        try Self.ask(client, "POST", "from/copy", json: #"{"to":"to"}"#)
        let begun = try Self.ask(client, "POST", "short/uploads")
        let upload = try #require(try JSONValue(parsing: begun.body)["uploadId"]?.string)
        try Self.ask(client, "PUT", "short?partNumber=1&uploadId=\(upload)", body: "only")
        try Self.ask(client, "POST", "short?uploadId=\(upload)", json: "{}")
      }
      try Self.expectWrite("POST /v1/files/pics/from/copy", in: calls, replaces: true, links: true)
      try Self.expectWrite(
        "POST /v1/files/pics/short?uploadId", in: calls, replaces: true, links: true)
    }

    /// Expects between a request and its response, in this order: a new file or a link, and a sync of its
    /// content; a sync of its name; a sync of the index's transaction. Only after that the file moves to its
    /// place, and the one it replaces is removed.
    ///
    /// - Parameter number: the number of the request among those that begin so.
    private static func expectWrite(
      _ request: String, at number: Int = 0, in calls: [String], replaces: Bool,
      links: Bool = false
    ) throws {
      let heards = SystemCalls.places(of: request, "recvfrom", in: calls)
      let heard = try #require(heards.dropFirst(number).first, "\(request)")
      let told = try #require(
        SystemCalls.places(of: "HTTP/1.1 20", in: calls).first { $0 > heard }, "\(request)")
      let between = calls[heard..<told]
      let note: Comment = "\(request): \(between.joined(separator: "\n"))"
      let made = try #require(between.firstIndex { isMaking($0, links: links) }, note)
      let name = try #require(arrival(in: calls[made]), note)
      var last = made
      if !links {
        last = try #require(
          between[last...].firstIndex { SystemCalls.isSync($0, of: "/incoming/\(name)") }, note)
        #expect(!calls[last...told].contains { isWriting($0, to: name) }, note)
      }
      last = try #require(
        between[last...].firstIndex { SystemCalls.isSync($0, of: "/incoming") }, note)
      last = try #require(between[last...].firstIndex { SystemCalls.isSync($0, of: "-wal") }, note)
      let moved = between.firstIndex { $0.hasPrefix("rename") && $0.contains(name) }
      #expect(try #require(moved, note) > last, note)
      let removed = between.indices.filter { isRemoval(calls[$0]) }
      #expect(removed.isEmpty == !replaces, note)
      #expect(removed.allSatisfy { $0 > last }, note)
    }

    private static func isMaking(_ call: String, links: Bool) -> Bool {
      let isOne = links ? call.hasPrefix("link") : call.hasPrefix("openat(")
      return isOne && call.contains("/incoming/") && (links || call.contains("O_CREAT"))
    }

    private static func isWriting(_ call: String, to name: String) -> Bool {
      call.hasPrefix("write") && call.contains(name)
    }

    private static func isRemoval(_ call: String) -> Bool {
      call.hasPrefix("unlink") && call.contains("/files/") && call.hasSuffix("= 0")
    }

    /// The name of the file in `incoming` that a call has as an argument.
    private static func arrival(in call: String) -> String? {
      call.range(of: "/incoming/").map { place in
        String(call[place.upperBound...].prefix { $0.isHexDigit })
      }
    }

    @discardableResult
    private static func ask(
      _ client: RawClient, _ method: String, _ target: String, body: String? = nil,
      json: String? = nil
    ) throws -> RawResponse {
      let answer = try client.request(
        method, "/v1/files/pics/\(target)",
        headers: [
          ("Authorization", "Bearer \(ServiceFolder.adminToken)"),
          ("Content-Type", json == nil ? "text/plain" : "application/json"),
        ], body: json ?? body)
      #expect((200..<300).contains(answer.status), "\(target): \(answer.text)")
      return answer
    }

    /// Runs a service under the tracer.
    private static func calls(
      _ body: @escaping @Sendable (RawClient) throws -> Void
    ) async throws -> [String] {
      let folder = try ServiceFolder(upstream: RefusedStartTests.nowhere, settings: settings)
      let file = "\(folder.path)/calls.txt"
      let larder = try LarderProcess.spawnService(folder, under: SystemCalls.tracer(file: file))
      try await larder.becomeReady()
      let port = larder.port
      try await onOwnThread { try body(RawClient(port: port)) }
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      return SystemCalls.read(file)
    }
  }
}
