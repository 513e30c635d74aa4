import Gateway
import HTTPServer
import HTTPTypes
import Model
import Testing

@testable import Endpoints

/// What nodes of a cluster add to responses, and how they compare cursors.
struct NodeReadsMarkTests {
  private static let codec = CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor))
  private static let device = ("Device-Token", "t")

  private static func issuer(_ segment: UInt64, head: Int64) -> CursorIssuer {
    CursorIssuer(codec: codec, segment: segment, schemaVersion: 1, head: Revision(head))
  }

  private static func cursor(_ segment: UInt64, head: Int64) -> String {
    String(decoding: issuer(segment, head: head).cursor(for: .anonymous), as: UTF8.self)
  }

  private let reads = NodeReads(cursors: issuer(1, head: 7))

  private func response(_ cacheStatus: String? = nil) -> ServerResponse {
    var fields: HTTPFields = [.syncCursor: Self.cursor(1, head: 7)]
    fields[.cacheStatus] = cacheStatus
    return ServerResponse(status: .ok, fields: fields)
  }

  @Test("The cursor of a read covers the submission that only the inbox has")
  func coversSubmissions() throws {
    let read = try request("GET", "/v1/entities/Film/1", Self.device)
    var plain = response()
    reads.mark(&plain, to: read, isCutOff: false)
    #expect(plain.fields == response().fields)
    read.note { $0.inboxEntry = 5 }
    var covering = response()
    reads.mark(&covering, to: read, isCutOff: false)
    let cursor = try #require(covering.fields[.syncCursor].flatMap(Self.codec.decode))
    #expect(cursor.entry == 5 && cursor.revision == Revision(7))
    #expect(covering.fields[.cacheStatus] == nil)
  }

  @Test("A device's read says that the node is cut off, by its own state or by what the read found")
  func saysCutOff() throws {
    let read = try request("GET", "/v1/entities/Film/1", Self.device)
    for isFound in [false, true] {
      read.note { $0.isCutOff = isFound }
      var own = response()
      reads.mark(&own, to: read, isCutOff: !isFound)
      #expect(own.fields[.cacheStatus] == "larder; hit; detail=cut-off")
    }
    var stale = response("larder; hit; ttl=-3; detail=stale-if-error")
    reads.mark(&stale, to: read, isCutOff: true)
    #expect(stale.fields[.cacheStatus] == "larder; hit; ttl=-3; detail=cut-off")
    // Not the responses of another node, to writes, to callers without a device, and failures.
    read.note { $0.isForwarded = true }
    let others = [
      read, try request("POST", "/v1/mutations", Self.device),
      try request("GET", "/v1/entities/Film/1"),
    ]
    for other in others {
      var open = response()
      reads.mark(&open, to: other, isCutOff: true)
      #expect(open.fields[.cacheStatus] == nil)
    }
    var failed = ServerResponse(status: .notFound)
    reads.mark(&failed, to: try request("GET", "/v1/entities/Film/1", Self.device), isCutOff: true)
    #expect(failed.fields[.cacheStatus] == nil)
  }

  @Test("Of several cursors the one counts that this node has least of")
  func severalCursors() throws {
    let (own, later, other) = (
      Self.cursor(1, head: 7), Self.cursor(1, head: 8), Self.cursor(2, head: 3)
    )
    #expect(reads.coverage(of: []) == .whole)
    #expect(reads.coverage(of: [own, "no cursor"]) == .whole)
    #expect(reads.coverage(of: [later, own]) == .behind)
    #expect(reads.coverage(of: [other, later]) == .unknown)
    #expect(reads.coverage(of: [later, other]) == .unknown)
    let read = try request(
      "GET", "/v1/changes?since=\(own)", ("Sync-Cursor", later), ("Last-Event-ID", other))
    #expect(NodeReads.shown(by: read) == [later, other, own])
  }
}
