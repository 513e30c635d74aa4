package import Cryptography
import Model

/// Encodes the positions of a live stream's subjects as one event id, with a truncated HMAC over it and
/// the caller: no state is kept for a client that has left, and another caller's id continues nothing.
///
/// An id has at most ``bytesMax`` bytes before encoding, so that it fits into a request's head; subjects
/// beyond that start over.
package struct LivePositionCodec: Sendable {
  /// The version of the layout below; a new layout needs a new number.
  private static let version: UInt8 = 1
  private static let macByteCount = 12
  static let bytesMax = 6_000
  /// The maximum length of one subject's position.
  static let positionBytesMax = 255

  private let key: SymmetricKey

  package init(key: SymmetricKey) {
    self.key = key
  }

  /// - Parameter positions: the id of the last event, by the digest of its subject.
  func encode(_ positions: [(digest: [UInt8], id: String)], viewer: Viewer) -> String {
    var bytes = [Self.version]
    for (digest, id) in positions {
      let length = id.utf8.count
      guard length > 0, length <= Self.positionBytesMax,
        bytes.count + digest.count + 2 + length <= Self.bytesMax
      else { continue }
      bytes.append(UInt8(digest.count))
      bytes += digest
      bytes.append(UInt8(length))
      bytes += id.utf8
    }
    return Base64URL.encode(bytes + mac(of: bytes, viewer))
  }

  /// Returns the positions; none for an id that is not this caller's, or was altered.
  func decode(_ text: String, viewer: Viewer) -> [[UInt8]: String] {
    guard text.utf8.count <= Self.bytesMax * 2, let bytes = Base64URL.decode(text),
      bytes.count > Self.macByteCount, bytes[0] == Self.version
    else { return [:] }
    let content = Array(bytes.dropLast(Self.macByteCount))
    guard constantTimeEqual(mac(of: content, viewer), bytes.suffix(Self.macByteCount)) else {
      return [:]
    }
    var positions: [[UInt8]: String] = [:]
    var rest = content.dropFirst()
    while let digest = Self.take(from: &rest), let id = Self.take(from: &rest) {
      positions[Array(digest)] = String(decoding: id, as: UTF8.self)
    }
    return positions
  }

  private static func take(from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let length = bytes.first, bytes.count > Int(length) else { return nil }
    defer { bytes = bytes.dropFirst(1 + Int(length)) }
    return bytes.dropFirst().prefix(Int(length))
  }

  private func mac(of bytes: [UInt8], _ viewer: Viewer) -> [UInt8] {
    let layers = viewer.layers.map { scope in
      "\(scope.kind.rawValue) \(scope.subject.utf8.count):\(scope.subject)"
        + "\(scope.partition.utf8.count):\(scope.partition)"
    }
    let text = Array(layers.joined(separator: "\n").utf8)
    return Array(
      HMAC<SHA256>.authenticationCode(for: bytes + text, using: key).prefix(Self.macByteCount))
  }
}
