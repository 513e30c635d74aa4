import Model
import Storage
import Synchronization
import Testing

@testable import Gateway

struct CursorIssuerTests {
  private static let codec = CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor))

  private static func issuer(
    _ segment: UInt64, after earlier: [UInt64] = [], head: Int64
  ) -> CursorIssuer {
    CursorIssuer(
      codec: codec, segment: segment, earlier: earlier, schemaVersion: 1, head: Revision(head))
  }

  private static func cursor(of issuer: CursorIssuer) -> String {
    String(decoding: issuer.cursor(for: .anonymous), as: UTF8.self)
  }

  @Test("A node has what a cursor has seen up to its head, in segments that it knows")
  func coverage() {
    let node = Self.issuer(2, after: [1], head: 70)
    #expect(node.coverage(of: Self.cursor(of: node)) == .whole)
    #expect(node.coverage(of: Self.cursor(of: Self.issuer(2, head: 71))) == .behind)
    #expect(node.coverage(of: Self.cursor(of: Self.issuer(1, head: 60))) == .whole)
    // Of commits that were lost, or of a replica that has not opened the next segment.
    #expect(node.coverage(of: Self.cursor(of: Self.issuer(1, head: 71))) == .unknown)
    #expect(node.coverage(of: "no cursor") == .whole)
    node.publish(Revision(71))
    #expect(node.coverage(of: Self.cursor(of: Self.issuer(2, head: 71))) == .whole)
  }

  @Test("A cursor of the next leader is never covered by a node that does not know its segment")
  func nextLeader() {
    let next = Self.cursor(of: Self.issuer(3, after: [2], head: 70))
    for head: Int64 in [69, 70, 71] {
      #expect(Self.issuer(2, head: head).coverage(of: next) == .unknown)
    }
    // A store without a segment issues cursors of none.
    #expect(
      Self.issuer(2, head: 70).coverage(of: Self.cursor(of: Self.issuer(0, head: 0))) == .whole)
  }

  @Test("A cursor covers the commits that became visible during a read, and starts before them")
  func coversWhatBecameVisible() throws {
    let underWay = Atomic<Int64>(0)
    let node = CursorIssuer(codec: Self.codec, segment: 2, schemaVersion: 1, head: Revision(70)) {
      Revision(underWay.load(ordering: .relaxed))
    }
    let other = Self.issuer(2, head: 70)
    #expect(node.settledAnonymousCursor() == Array(Self.cursor(of: other).utf8))
    // Committed, and not the head yet: a cached response can show it.
    underWay.store(71, ordering: .relaxed)
    #expect(node.settledAnonymousCursor() == nil)
    #expect(node.settledCursor(for: .anonymous) == nil)
    let during = String(
      decoding: node.cursor(for: .anonymous, at: Revision(70)), as: UTF8.self)
    #expect(other.coverage(of: during) == .behind)
    #expect(try #require(Self.codec.decode(during)).revision == Revision(70))
    let covering = try #require(Self.codec.decode(node.cursor(during, covering: 5)))
    #expect((covering.seen, covering.entry) == (Revision(71), 5))
    // The head moves on while a read that began at 70 ends.
    node.publish(Revision(72))
    underWay.store(0, ordering: .relaxed)
    #expect(node.settledAnonymousCursor() != nil)
    let after = String(
      decoding: node.cursor(for: .anonymous, at: Revision(70)), as: UTF8.self)
    other.publish(Revision(71))
    #expect(other.coverage(of: during) == .whole)
    #expect(other.coverage(of: after) == .behind)
    // Alone, cursors do not tell: all that a client can read is here.
    other.publish(Revision(72))
    let alone = other.cursor(for: .anonymous, at: Revision(70))
    #expect(alone == Self.issuer(2, head: 70).cursor(for: .anonymous))
  }

  @Test("A cursor can also cover a submission, and never a lesser one than before")
  func coversEntries() throws {
    let issuer = Self.issuer(1, head: 70)
    let cursor = Self.cursor(of: issuer)
    let covering = issuer.cursor(cursor, covering: 5)
    #expect(issuer.entry(coveredBy: covering) == 5)
    #expect(issuer.cursor(covering, covering: 4) == covering)
    #expect(issuer.entry(coveredBy: issuer.cursor(covering, covering: 6)) == 6)
    #expect(issuer.coverage(of: covering) == .whole)
    #expect(issuer.cursor("no cursor", covering: 5) == "no cursor")
    let (before, after) = (
      try #require(Self.codec.decode(cursor)), try #require(Self.codec.decode(covering))
    )
    #expect(before.covering(5) == after)
  }
}
