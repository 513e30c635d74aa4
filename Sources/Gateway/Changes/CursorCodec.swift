package import Cryptography
package import Model
package import Storage

/// A position in the change log as one caller sees it; opaque to clients.
///
/// It has no time limit: it is valid if its segment is known and its revision is inside the segment,
/// which detects restored backups and lost commits.
package struct Cursor: Hashable, Sendable {
  /// The segment of the process start that created the revision.
  package let segment: UInt64
  package let revision: Revision
  /// The last key of a page that ended inside a commit; empty at the end of a commit.
  package let lastKey: String
  /// The start of a reading that has not caught up yet; nil if it has.
  package let origin: LogOrigin?
  /// The digest of the scopes of the caller it was issued to.
  package let viewer: UInt64
  /// The digest of the filter it continues; 0 if it was issued with a response instead of a page of
  /// changes, so that it can start any filter.
  package let filter: UInt64
  package let schemaVersion: UInt32
  /// The time of `now()` in the filter; nil for a filter without it.
  package let clock: FilterClock?
  /// The number of a submission in the inbox of a cluster that its reader has made, and that can be missing up
  /// to the revision; nil without one.
  package let entry: Int64?
  /// The last revision that its reader may have seen, of a read in a cluster during which a commit became visible;
  /// nil if it is the revision. What the reader has completely ends at the revision, and no node may show less
  /// than this one.
  package let seen: Revision?

  package init(
    segment: UInt64, revision: Revision, lastKey: String = "", origin: LogOrigin? = nil,
    viewer: UInt64, filter: UInt64 = 0, schemaVersion: UInt32, clock: FilterClock? = nil,
    entry: Int64? = nil, seen: Revision? = nil
  ) {
    self.clock = clock
    self.entry = entry
    self.seen = seen
    self.segment = segment
    self.revision = revision
    self.lastKey = lastKey
    self.origin = origin
    self.viewer = viewer
    self.filter = filter
    self.schemaVersion = schemaVersion
  }

  /// The same cursor, of a reader who has also seen a submission in the inbox.
  func covering(_ entry: Int64) -> Cursor {
    Cursor(
      segment: segment, revision: revision, lastKey: lastKey, origin: origin, viewer: viewer,
      filter: filter, schemaVersion: schemaVersion, clock: clock, entry: entry,
      seen: seen)
  }
}

/// A reader's position in the change log, as a cursor encodes it.
package struct ChangePlace: Hashable, Sendable {
  package let position: LogPosition
  package let origin: LogOrigin
  /// The time of `now()` in the filter; nil for a filter without it.
  package let clock: FilterClock?

  package init(position: LogPosition, origin: LogOrigin, clock: FilterClock? = nil) {
    self.position = position
    self.origin = origin
    self.clock = clock
  }

  /// Creates the position after everything up to a revision.
  package init(caughtUpAt revision: Revision, clock: FilterClock? = nil) {
    self.init(
      position: LogPosition(revision: revision), origin: .delta(base: revision), clock: clock)
  }
}

/// The reason that a client's cursor cannot be continued.
package enum CursorFault: Error, Hashable, Sendable {
  /// The reason that the log cannot continue at the cursor: the client must start over.
  package enum Reason: String, Hashable, Sendable {
    /// Deletions after it have been forgotten.
    case expired
    /// It belongs to a database that was replaced, or to commits that were lost.
    case segment
    /// The schema of changes has changed since.
    case schema
    /// The same caller now sees more or less than then.
    case scope
  }

  /// Not a cursor of this service.
  case malformed
  case otherFilter
  /// Issued with a response, for a filter with `now()`: it does not say what the reader has at which time.
  case withoutTime
  case otherCaller
  case gone(Reason)
}

/// Encodes cursors as base64url text with a truncated HMAC, so that forged or altered ones are refused.
package struct CursorCodec: Sendable {
  /// The version of the layout below; a new layout needs a new number.
  private static let version: UInt8 = 2
  /// The version of the layout with a ``FilterClock`` at its end.
  private static let clockVersion: UInt8 = 3
  /// The version of the layout with the number of an ``Cursor/entry`` at its end. It has no clock: it is issued
  /// with a response, never with a page.
  private static let entryVersion: UInt8 = 4
  /// The version of the layout with a revision that was ``Cursor/seen`` at its end, and the number of an entry or
  /// -1. It has no clock either.
  private static let seenVersion: UInt8 = 5
  private static let macByteCount = 12
  /// version, segment, revision, viewer, filter, schema version, kind and revision of the origin,
  /// length of the last key.
  private static let fixedByteCount = 1 + 8 + 8 + 8 + 8 + 4 + 1 + 8 + 2

  private let key: SymmetricKey

  package init(key: SymmetricKey) {
    self.key = key
  }

  package func encode(_ cursor: Cursor) -> String {
    let (version, end) = Self.end(of: cursor)
    var bytes = [version]
    bytes.append(bigEndian: cursor.segment)
    bytes.append(bigEndian: UInt64(bitPattern: cursor.revision.value))
    bytes.append(bigEndian: cursor.viewer)
    bytes.append(bigEndian: cursor.filter)
    bytes.append(bigEndian: cursor.schemaVersion)
    let origin = OriginCode(cursor.origin)
    bytes.append(origin.kind)
    bytes.append(bigEndian: origin.revision)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: cursor.lastKey.utf8.count))
    bytes.append(contentsOf: cursor.lastKey.utf8)
    bytes.append(contentsOf: end)
    bytes.append(contentsOf: mac(of: bytes))
    return Base64URL.encode(bytes)
  }

  /// The version of a cursor's layout, and what it has at its end.
  private static func end(of cursor: Cursor) -> (version: UInt8, bytes: [UInt8]) {
    var bytes: [UInt8] = []
    if let clock = cursor.clock {
      bytes.append(clock)
      return (clockVersion, bytes)
    }
    if let seen = cursor.seen {
      bytes.append(bigEndian: UInt64(bitPattern: seen.value))
      bytes.append(bigEndian: UInt64(bitPattern: cursor.entry ?? -1))
      return (seenVersion, bytes)
    }
    guard let entry = cursor.entry else { return (version, bytes) }
    bytes.append(bigEndian: UInt64(bitPattern: entry))
    return (entryVersion, bytes)
  }

  /// Decodes a cursor.
  ///
  /// - Returns: nil for text that was not created with this codec's key.
  package func decode(_ text: String) -> Cursor? {
    guard let bytes = Base64URL.decode(text),
      bytes.count >= Self.fixedByteCount + Self.macByteCount,
      (Self.version...Self.seenVersion).contains(bytes[0])
    else { return nil }
    let content = bytes.dropLast(Self.macByteCount)
    guard constantTimeEqual(mac(of: content), bytes.suffix(Self.macByteCount)) else { return nil }
    let keyCount = Int(content.bigEndian(UInt16.self, at: 46))
    let origin = OriginCode(
      kind: content[content.startIndex + 37], revision: content.bigEndian(Int64.self, at: 38))
    guard content.count >= Self.fixedByteCount + keyCount, let origin = origin.origin else {
      return nil
    }
    let rest = content.dropFirst(Self.fixedByteCount)
    let end = rest.dropFirst(keyCount)
    var (clock, entry, seen): (FilterClock?, Int64?, Revision?) = (nil, nil, nil)
    switch bytes[0] {
    case Self.clockVersion:
      guard let found = FilterClock(end) else { return nil }
      clock = found
    case Self.entryVersion:
      guard end.count == 8 else { return nil }
      entry = Int64(bitPattern: end.bigEndian(UInt64.self, at: 0))
    case Self.seenVersion:
      guard end.count == 16 else { return nil }
      seen = Revision(Int64(bitPattern: end.bigEndian(UInt64.self, at: 0)))
      let number = Int64(bitPattern: end.bigEndian(UInt64.self, at: 8))
      entry = number < 0 ? nil : number
    default: guard end.isEmpty else { return nil }
    }
    return Cursor(
      segment: content.bigEndian(UInt64.self, at: 1),
      revision: Revision(Int64(bitPattern: content.bigEndian(UInt64.self, at: 9))),
      lastKey: String(decoding: rest.prefix(keyCount), as: UTF8.self), origin: origin,
      viewer: content.bigEndian(UInt64.self, at: 17),
      filter: content.bigEndian(UInt64.self, at: 25),
      schemaVersion: content.bigEndian(UInt32.self, at: 33), clock: clock, entry: entry,
      seen: seen)
  }

  /// Returns a keyed digest of a viewer's scopes, which reveals nothing about them without the key.
  /// The first half covers the caller's own and public scopes, the second its roles and claims.
  package func digest(of viewer: Viewer) -> UInt64 {
    UInt64(identity(of: viewer.layers)) << 32 | UInt64(half(of: viewer.layers.filter(\.isOfGroup)))
  }

  /// Returns the first half of the digest of a viewer with these layers.
  func identity(of layers: [Scope]) -> UInt32 { half(of: layers.filter { !$0.isOfGroup }) }

  /// The digest of a viewer in cursors from before roles and claims had layers: of what is the
  /// caller's own or everybody's, alone. Whatever is a role's or a claim's was stored after such a
  /// cursor was made, so it is continued with all of it.
  func ungroupedDigest(of viewer: Viewer) -> UInt64 {
    code(of: viewer.layers.filter { !$0.isOfGroup }).bigEndian(UInt64.self, at: 0)
  }

  private func half(of layers: [Scope]) -> UInt32 {
    code(of: layers).bigEndian(UInt32.self, at: 0)
  }

  private func code(of layers: [Scope]) -> ArraySlice<UInt8> {
    var text: [UInt8] = []
    for scope in layers {
      for part in ["\(scope.kind.rawValue)", scope.subject, scope.partition] {
        text.append(bigEndian: UInt32(truncatingIfNeeded: part.utf8.count))
        text.append(contentsOf: part.utf8)
      }
    }
    return ArraySlice(mac(of: text))
  }

  private func mac(of bytes: some Sequence<UInt8>) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: Array(bytes), using: key).prefix(Self.macByteCount))
  }
}

extension Scope {
  /// Whether a caller can gain or lose the scope without becoming another caller.
  fileprivate var isOfGroup: Bool { kind == .role || kind == .claim }
}

/// A cursor's origin as two numbers.
private struct OriginCode {
  let kind: UInt8
  let revision: Int64

  init(kind: UInt8, revision: Int64) {
    self.kind = kind
    self.revision = revision
  }

  init(_ origin: LogOrigin?) {
    switch origin {
    case nil: self.init(kind: 0, revision: 0)
    case .delta(let base): self.init(kind: 1, revision: base.value)
    case .snapshot(let start): self.init(kind: 2, revision: start.value)
    }
  }

  /// The decoded origin; nil for numbers that no version writes.
  var origin: LogOrigin?? {
    switch kind {
    case 0: .some(nil)
    case 1: .delta(base: Revision(revision))
    case 2: .snapshot(start: Revision(revision))
    default: nil
    }
  }
}

/// The layout of a cursor's clock: the time, whether a step is being taken, its end, and the last entity in
/// it.
extension FilterClock {
  /// Nil for bytes that no version writes.
  fileprivate init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 9 else { return nil }
    let time = Timestamp(milliseconds: Int64(bitPattern: bytes.bigEndian(UInt64.self, at: 0)))
    switch bytes[bytes.startIndex + 8] {
    case 0 where bytes.count == 9: self.init(time: time)
    case 1 where bytes.count >= 19:
      let end = Timestamp(milliseconds: Int64(bitPattern: bytes.bigEndian(UInt64.self, at: 9)))
      let typeCount = Int(bytes.bigEndian(UInt16.self, at: 17))
      let names = bytes.dropFirst(19)
      guard names.count >= typeCount else { return nil }
      let after = EntityKey(
        type: String(decoding: names.prefix(typeCount), as: UTF8.self),
        key: String(decoding: names.dropFirst(typeCount), as: UTF8.self))
      self.init(time: time, step: Step(end: end, after: after))
    default: return nil
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ clock: FilterClock) {
    append(bigEndian: UInt64(bitPattern: clock.time.milliseconds))
    append(clock.step == nil ? 0 : 1)
    guard let step = clock.step else { return }
    append(bigEndian: UInt64(bitPattern: step.end.milliseconds))
    append(bigEndian: UInt16(truncatingIfNeeded: step.after.type.utf8.count))
    append(contentsOf: step.after.type.utf8)
    append(contentsOf: step.after.key.utf8)
  }

  fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}

extension ArraySlice<UInt8> {
  /// Returns the integer whose first byte is `offset` bytes after the slice's start.
  fileprivate func bigEndian<T: FixedWidthInteger>(_: T.Type, at offset: Int) -> T {
    self[(startIndex + offset)..<(startIndex + offset + T.bitWidth / 8)]
      .reduce(0) { $0 << 8 | T($1) }
  }
}
