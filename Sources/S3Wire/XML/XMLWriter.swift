/// A writer of documents, element by element.
///
/// Names come from this program and are written as they are; text is escaped. XML 1.0 cannot represent
/// most control characters; U+FFFD replaces them. Clients that can encounter such keys request
/// `encoding-type=url`.
package struct XMLWriter: Sendable {
  /// The namespace of S3's documents.
  static let s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

  private static let replacement: [UInt8] = Array("\u{FFFD}".utf8)

  package private(set) var bytes: [UInt8]
  private var open: [String] = []

  /// - Parameter root: the name of the outermost element, which is left open.
  package init(_ root: String, namespace: String? = s3Namespace) {
    bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
    bytes += "<\(root)".utf8
    if let namespace { bytes += " xmlns=\"\(namespace)\"".utf8 }
    bytes.append(UInt8(ascii: ">"))
    open = [root]
  }

  /// Opens an element.
  ///
  /// - Parameter attributes: written as they are.
  package mutating func begin(_ name: String, attributes: String = "") {
    bytes += "<\(name)\(attributes.isEmpty ? "" : " ")\(attributes)>".utf8
    open.append(name)
  }

  /// Closes the innermost open element.
  package mutating func end() {
    guard let name = open.popLast() else { return }
    bytes += "</\(name)>".utf8
  }

  /// Writes text in the open element.
  package mutating func text(_ text: String) {
    for scalar in text.unicodeScalars { append(scalar) }
  }

  /// Writes an element with only text.
  package mutating func element(_ name: String, _ text: String) {
    begin(name)
    self.text(text)
    end()
  }

  package mutating func element(_ name: String, _ number: Int) { element(name, "\(number)") }

  package mutating func element(_ name: String, _ flag: Bool) {
    element(name, flag ? "true" : "false")
  }

  /// Writes an element whose content is written by `content`.
  package mutating func element(_ name: String, _ content: (inout XMLWriter) -> Void) {
    begin(name)
    content(&self)
    end()
  }

  /// Closes all open elements and returns the document.
  package consuming func finished() -> [UInt8] {
    while !open.isEmpty { end() }
    return bytes
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "&": bytes += "&amp;".utf8
    case "<": bytes += "&lt;".utf8
    case ">": bytes += "&gt;".utf8
    case "\"": bytes += "&quot;".utf8
    // Unescaped it would be read as a line end.
    case "\r": bytes += "&#13;".utf8
    case _ where !XMLCharacters.isLegal(scalar): bytes += Self.replacement
    default: bytes += UTF8.encode(scalar).map { Array($0) } ?? Self.replacement
    }
  }
}
