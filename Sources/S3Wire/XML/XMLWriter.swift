/// Writes a document, element by element.
///
/// Names are the source's own and written as they are; text is escaped. XML 1.0 has no way to write
/// most control characters: U+FFFD stands for them. Clients that may meet such keys ask for
/// `encoding-type=url`.
package struct XMLWriter: Sendable {
  /// The namespace of S3's documents.
  package static let s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

  private static let replacement: [UInt8] = Array("\u{FFFD}".utf8)

  package private(set) var bytes: [UInt8]
  private var open: [String] = []

  /// - Parameter root: the name of the outermost element, which is open then.
  package init(_ root: String, namespace: String? = s3Namespace) {
    bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
    bytes += "<\(root)".utf8
    if let namespace { bytes += " xmlns=\"\(namespace)\"".utf8 }
    bytes.append(UInt8(ascii: ">"))
    open = [root]
  }

  /// - Parameter attributes: written as they are.
  package mutating func begin(_ name: String, attributes: String = "") {
    bytes += "<\(name)\(attributes.isEmpty ? "" : " ")\(attributes)>".utf8
    open.append(name)
  }

  package mutating func end() {
    guard let name = open.popLast() else { return }
    bytes += "</\(name)>".utf8
  }

  /// Text in the element that is open.
  package mutating func text(_ text: String) {
    for scalar in text.unicodeScalars { append(scalar) }
  }

  /// An element that holds text alone.
  package mutating func element(_ name: String, _ text: String) {
    begin(name)
    self.text(text)
    end()
  }

  package mutating func element(_ name: String, _ number: Int) { element(name, "\(number)") }

  package mutating func element(_ name: String, _ flag: Bool) {
    element(name, flag ? "true" : "false")
  }

  /// An element with what `content` writes in it.
  package mutating func element(_ name: String, _ content: (inout XMLWriter) -> Void) {
    begin(name)
    content(&self)
    end()
  }

  /// Ends all that is open.
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
    // As it is it would be read as the end of a line.
    case "\r": bytes += "&#13;".utf8
    case _ where !XMLCharacters.isLegal(scalar): bytes += Self.replacement
    default: bytes += UTF8.encode(scalar).map { Array($0) } ?? Self.replacement
    }
  }
}
