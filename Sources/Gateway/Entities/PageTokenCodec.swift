package import Cryptography
import Filtering
import Model

/// Encodes the end of a collection's page as a token that the client returns for the next page: the
/// order's values, the key and the question, with a truncated HMAC. It is no position in the
/// database, so the next page continues correctly whatever was written in between.
package struct PageTokenCodec: Sendable {
  /// The version of the layout below; a new layout needs a new number.
  private static let version: UInt8 = 1
  private static let macByteCount = 12
  private static let digestByteCount = 8

  private let key: SymmetricKey

  package init(key: SymmetricKey) {
    self.key = key
  }

  /// Encodes a position.
  ///
  /// - Parameter question: everything that must be the same for the next page.
  func encode(_ position: EntityPosition, question: String) -> String {
    var bytes = [Self.version] + digest(of: question)
    for value in position.values + [.text(position.key)] { append(value, to: &bytes) }
    return Base64URL.encode(bytes + mac(of: bytes))
  }

  enum Fault: Error {
    /// Forged, altered, or from another server.
    case malformed
    /// For another filter, order or list.
    case otherQuestion
  }

  /// Decodes a token that was encoded for the same question.
  func decode(_ text: String, question: String) throws(Fault) -> EntityPosition {
    guard let bytes = Base64URL.decode(text),
      bytes.count > 1 + Self.digestByteCount + Self.macByteCount, bytes[0] == Self.version
    else { throw .malformed }
    let content = bytes.dropLast(Self.macByteCount)
    guard constantTimeEqual(mac(of: Array(content)), bytes.suffix(Self.macByteCount)) else {
      throw .malformed
    }
    guard Array(content[1..<(1 + Self.digestByteCount)]) == digest(of: question) else {
      throw .otherQuestion
    }
    var rest = content.dropFirst(1 + Self.digestByteCount)
    var values: [FilterValue] = []
    while !rest.isEmpty {
      guard let value = Self.take(from: &rest) else { throw .malformed }
      values.append(value)
    }
    guard case .text(let key)? = values.popLast() else { throw .malformed }
    return EntityPosition(values: values, key: key)
  }

  // MARK: Values: a tag, then eight bytes, or a length of four and a text

  private func append(_ value: FilterValue, to bytes: inout [UInt8]) {
    switch value {
    case .null:
      bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      Self.append(UInt64(bitPattern: number), to: &bytes)
    case .real(let number):
      bytes.append(2)
      Self.append(number.bitPattern, to: &bytes)
    case .text(let text):
      bytes.append(3)
      Self.append(UInt64(text.utf8.count), to: &bytes)
      bytes.append(contentsOf: text.utf8)
    }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  private static func take(from bytes: inout ArraySlice<UInt8>) -> FilterValue? {
    guard let tag = bytes.popFirst() else { return nil }
    if tag == 0 { return .null }
    guard bytes.count >= 8 else { return nil }
    let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    bytes = bytes.dropFirst(8)
    switch tag {
    case 1: return .integer(Int64(bitPattern: number))
    case 2: return .real(Double(bitPattern: number))
    case 3:
      guard number <= UInt64(bytes.count) else { return nil }
      defer { bytes = bytes.dropFirst(Int(number)) }
      return .text(String(decoding: bytes.prefix(Int(number)), as: UTF8.self))
    default: return nil
    }
  }

  private func digest(of question: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(question.utf8)).prefix(Self.digestByteCount))
  }

  private func mac(of bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key).prefix(Self.macByteCount))
  }
}
