/// The list that vendors of tracing systems attach to a trace (W3C Trace Context section 3.3). This service
/// has no member of its own: it checks the list and passes it on.
package enum TraceState {
  /// Every service must pass on at least this much; more is dropped (section 3.3.1.5).
  package static let bytesMax = 512
  private static let membersMax = 32
  private static let keyBytesMax = 256
  private static let valueBytesMax = 256

  /// Returns the members of all fields in one list, without white space between them.
  ///
  /// - Returns: empty without members; nil if a member is malformed, two have the same key, or there are
  ///   more than is allowed.
  package static func joined(_ fields: [ArraySlice<UInt8>]) -> String? {
    var bytes: [UInt8] = []
    var keys: Set<ArraySlice<UInt8>> = []
    for field in fields {
      guard field.count <= bytesMax else { return nil }
      for part in field.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: true) {
        let member = trimmed(part)
        if member.isEmpty { continue }
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")),
          isKey(member[..<equals]), isValue(member[(equals + 1)...]),
          keys.insert(member[..<equals]).inserted, keys.count <= membersMax
        else { return nil }
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: member)
      }
    }
    guard bytes.count <= bytesMax else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  /// Section 3.3.1.3.1 of level 2, which allows what level 1 does and a little more.
  private static func isKey(_ text: ArraySlice<UInt8>) -> Bool {
    guard let first = text.first, text.count <= keyBytesMax, isLetterOrDigit(first) else {
      return false
    }
    return text.allSatisfy { isLetterOrDigit($0) || "_-*/@".utf8.contains($0) }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  /// Visible ASCII and blanks, without `=`; the list has been split at its commas.
  private static func isValue(_ text: ArraySlice<UInt8>) -> Bool {
    !text.isEmpty && text.count <= valueBytesMax
      && text.allSatisfy { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "=") }
  }
}
