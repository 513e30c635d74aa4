/// The name of an object in its bucket: any Unicode text of up to 1,024 bytes, taken as it is.
///
/// Keys are told apart and ordered by their UTF-8 bytes. Swift's own comparison takes an accented
/// letter and its decomposed form for one text; two keys they stay.
package struct ObjectKey: Hashable, Comparable, Sendable {
  package static let bytesMax = 1024

  package let text: String

  /// - Returns: nil for an empty text, one of more than 1,024 bytes, one with a control character
  ///   (NUL among them), and one with a `.` or `..` between slashes: clients and proxies would
  ///   make another path of that.
  package init?(_ text: String) {
    guard (1...Self.bytesMax).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }),
      text.utf8.split(separator: UInt8(ascii: "/")).allSatisfy({ !Self.isDots($0) })
    else { return nil }
    self.text = text
  }

  package static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }

  package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  package func hasPrefix(_ prefix: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

  private static func isDots(_ segment: Substring.UTF8View) -> Bool {
    segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
  }
}
