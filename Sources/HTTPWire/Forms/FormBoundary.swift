/// The boundary between the parts of a form: what a `Content-Type` of `multipart/form-data` names
/// (RFC 2046 5.1.1, RFC 7578 4.1).
package struct FormBoundary: Sendable, Hashable {
  /// As RFC 2046 has it.
  private static let bytesMax = 70

  let bytes: [UInt8]

  /// - Returns: nil for another media type, and for one without a boundary that can be one.
  package init?(contentType text: String) {
    let parts = text.split(separator: ";").map { ArraySlice(Array($0.utf8)).trimmingBlanks.text }
    guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
    var found: String?
    for part in parts.dropFirst() {
      let sides = part.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].lowercased() == "boundary" else { continue }
      guard found == nil else { return nil }
      let value = sides[1]
      let isQuoted = value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
      found = String(isQuoted ? value.dropFirst().dropLast() : value)
    }
    guard let found, (1...Self.bytesMax).contains(found.utf8.count),
      found.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != ASCII.quote }),
      !found.hasSuffix(" ")
    else { return nil }
    bytes = Array(found.utf8)
  }
}
