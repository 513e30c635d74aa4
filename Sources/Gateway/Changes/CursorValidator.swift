package import Model
package import Storage

/// Validates the cursors that clients send and creates those that pages end with.
///
/// A cursor is continued exactly where it ended or not at all: any uncertain one is refused.
package struct CursorValidator: Sendable {
  private let codec: CursorCodec
  /// Oldest first.
  private let segments: [Segment]
  private let schemaVersion: UInt32

  package init(codec: CursorCodec, segments: [Segment], schemaVersion: UInt32) {
    self.codec = codec
    self.segments = segments
    self.schemaVersion = schemaVersion
  }

  /// Returns the position of a cursor.
  ///
  /// - Parameter head: the store's head, read before.
  package func place(
    of text: String, viewer: Viewer, filter: ChangeFilter, head: Revision
  ) throws(CursorFault) -> ChangePlace {
    guard let cursor = codec.decode(text) else { throw .malformed }
    try judgeCaller(cursor, viewer)
    guard cursor.filter == 0 || cursor.filter == filter.digest else { throw .otherFilter }
    guard cursor.schemaVersion == schemaVersion else { throw .gone(.schema) }
    guard isInSegment(cursor, head: head) else { throw .gone(.segment) }
    guard !filter.usesNow || cursor.clock != nil else { throw .withoutTime }
    return ChangePlace(
      position: LogPosition(revision: cursor.revision, place: cursor.lastKey),
      origin: cursor.origin ?? .delta(base: cursor.revision),
      clock: filter.usesNow ? cursor.clock : nil)
  }

  /// Returns the cursor at a position.
  package func text(at place: ChangePlace, viewer: Viewer, filter: ChangeFilter) -> String {
    let revision = place.position.revision
    let isCaughtUp = place.position.place.isEmpty && place.origin == .delta(base: revision)
    return codec.encode(
      Cursor(
        segment: segments.last { $0.start <= revision }?.nonce ?? 0, revision: revision,
        lastKey: place.position.place, origin: isCaughtUp ? nil : place.origin,
        viewer: codec.digest(of: viewer), filter: filter.digest, schemaVersion: schemaVersion,
        clock: place.clock))
  }

  /// Throws if the cursor was issued for another view. A subset of the caller's own layers is an
  /// earlier view of the same caller: before signing in, or without the device. So is a view with
  /// other roles or claims.
  private func judgeCaller(_ cursor: Cursor, _ viewer: Viewer) throws(CursorFault) {
    guard cursor.viewer != codec.digest(of: viewer),
      cursor.viewer != codec.ungroupedDigest(of: viewer)
    else { return }
    let identity = UInt32(truncatingIfNeeded: cursor.viewer >> 32)
    let isPart = Self.parts(of: viewer).contains { codec.identity(of: $0.layers) == identity }
    throw isPart ? .gone(.scope) : .otherCaller
  }

  private static func parts(of viewer: Viewer) -> [Viewer] {
    let own = viewer.layers.filter { $0.kind == .user || $0.kind == .device }
    let open = viewer.layers.filter { $0.kind == .public }
    // A device, and a user with own data and data of all upstreams: at most three.
    let isFetched = { (scope: Scope) in
      scope.kind == .user && scope != .ownData(ofUser: scope.subject)
    }
    let groups =
      (own.filter { !isFetched($0) }.map { [$0] } + [own.filter(isFetched)]).filter { !$0.isEmpty }
    return (0..<1 << groups.count).map { choice in
      let chosen = groups.indices.filter { choice & 1 << $0 != 0 }.flatMap { groups[$0] }
      return Viewer(layers: chosen + open)
    }
  }

  /// Returns whether the cursor is in its segment. A segment ends where the next begins, both ends
  /// inclusive; the last one ends at the head.
  private func isInSegment(_ cursor: Cursor, head: Revision) -> Bool {
    guard let index = segments.firstIndex(where: { $0.nonce == cursor.segment }) else {
      return false
    }
    let end = index + 1 < segments.count ? segments[index + 1].start : head
    return segments[index].start <= cursor.revision && cursor.revision <= end
  }
}
