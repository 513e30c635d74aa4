package import Cryptography
package import Model
import Storage

/// Cursors as base64url text with a truncated HMAC, so that one made up or altered is refused.
package struct CursorCodec: Sendable {
  /// The layout below; another layout gets another number.
  private static let version: UInt8 = 2
  private static let macByteCount = 12
  /// version, segment, revision, viewer, filter, schema version, kind and revision of the origin,
  /// length of the last key.
  private static let fixedByteCount = 1 + 8 + 8 + 8 + 8 + 4 + 1 + 8 + 2

  private let key: SymmetricKey

  package init(key: SymmetricKey) {
    self.key = key
  }

  package func encode(_ cursor: Cursor) -> String {
    var bytes: [UInt8] = [Self.version]
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
    bytes.append(contentsOf: mac(of: bytes))
    return Base64URL.encode(bytes)
  }

  /// - Returns: nil for text that this codec's key did not make.
  package func decode(_ text: String) -> Cursor? {
    guard let bytes = Base64URL.decode(text),
      bytes.count >= Self.fixedByteCount + Self.macByteCount, bytes[0] == Self.version
    else { return nil }
    let content = bytes.dropLast(Self.macByteCount)
    guard constantTimeEqual(mac(of: content), bytes.suffix(Self.macByteCount)) else { return nil }
    let keyCount = Int(content.bigEndian(UInt16.self, at: 46))
    let origin = OriginCode(
      kind: content[content.startIndex + 37], revision: content.bigEndian(Int64.self, at: 38))
    guard content.count == Self.fixedByteCount + keyCount, let origin = origin.origin else {
      return nil
    }
    return Cursor(
      segment: content.bigEndian(UInt64.self, at: 1),
      revision: Revision(Int64(bitPattern: content.bigEndian(UInt64.self, at: 9))),
      lastKey: String(decoding: content.suffix(keyCount), as: UTF8.self), origin: origin,
      viewer: content.bigEndian(UInt64.self, at: 17),
      filter: content.bigEndian(UInt64.self, at: 25),
      schemaVersion: content.bigEndian(UInt32.self, at: 33))
  }

  /// A digest of a viewer's scopes that says nothing about them without the key: the first half of
  /// what is the caller's own or everybody's, the second of its roles and claims.
  package func digest(of viewer: Viewer) -> UInt64 {
    UInt64(identity(of: viewer.layers)) << 32 | UInt64(half(of: viewer.layers.filter(\.isOfGroup)))
  }

  /// The first half of the digest of a viewer with these layers.
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
  /// The caller may come to it, or lose it, and stays who it is.
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

  /// Nil for numbers that no version writes.
  var origin: LogOrigin?? {
    switch kind {
    case 0: .some(nil)
    case 1: .delta(base: Revision(revision))
    case 2: .snapshot(start: Revision(revision))
    default: nil
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}

extension ArraySlice<UInt8> {
  /// The integer whose first byte lies `offset` behind the slice's start.
  fileprivate func bigEndian<T: FixedWidthInteger>(_: T.Type, at offset: Int) -> T {
    self[(startIndex + offset)..<(startIndex + offset + T.bitWidth / 8)]
      .reduce(0) { $0 << 8 | T($1) }
  }
}
