/// A scanner of a document's tokens.
struct XMLScanner {
  private static let entities: [(name: String, text: String)] = [
    ("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'"),
  ]
  /// The longest reference, `&#x10FFFF;`, with room for leading zeros.
  private static let referenceBytesMax = 16

  private let bytes: [UInt8]
  private(set) var place = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    _ = skip("\u{FEFF}")
  }

  var isAtEnd: Bool { place >= bytes.count }

  var peek: UInt8? { isAtEnd ? nil : bytes[place] }

  func fault(_ kind: XMLFault.Kind, at offset: Int? = nil) -> XMLFault {
    XMLFault(kind, at: offset ?? place, in: bytes)
  }

  mutating func skip(_ text: String) -> Bool {
    guard bytes[place...].starts(with: text.utf8) else { return false }
    place += text.utf8.count
    return true
  }

  private mutating func skipBlanks() {
    while let byte = peek, XMLCharacters.isBlank(byte) { place += 1 }
  }

  /// Moves past the next occurrence of a text.
  ///
  /// - Returns: the bytes before it; nil, without moving, if there is none.
  private mutating func take(upTo end: String) -> ArraySlice<UInt8>? {
    let wanted = Array(end.utf8)
    let start = place
    var at = place
    while at + wanted.count <= bytes.count {
      if bytes[at] == wanted[0], bytes[at...].starts(with: wanted) {
        place = at + wanted.count
        return bytes[start..<at]
      }
      at += 1
    }
    return nil
  }

  // MARK: Around the element

  /// Skips `<?xml version="1.0" encoding="UTF-8"?>`, if present.
  mutating func skipDeclaration() throws(XMLFault) {
    let start = place
    guard skip("<?xml") else { return }
    guard let byte = peek, XMLCharacters.isBlank(byte), let content = take(upTo: "?>") else {
      throw fault(.processingInstruction, at: start)
    }
    let text = String(decoding: content, as: UTF8.self)
    guard let encoding = text.split(separator: "encoding", maxSplits: 1).dropFirst().first else {
      return
    }
    let value = encoding.drop { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" }
      .prefix { $0 != "\"" && $0 != "'" }
    guard value.lowercased() == "utf-8" else { throw fault(.otherEncoding, at: start) }
  }

  /// Skips blanks and comments.
  mutating func skipBetween() throws(XMLFault) {
    while true {
      skipBlanks()
      guard try skipComment() else { break }
    }
    try refuseOthers()
  }

  private mutating func skipComment() throws(XMLFault) -> Bool {
    let start = place
    guard skip("<!--") else { return false }
    guard let content = take(upTo: "--") else { throw fault(.unfinished, at: bytes.count) }
    guard skip(">") else { throw fault(.malformedComment, at: start + 4 + content.count) }
    return true
  }

  private func refuseOthers() throws(XMLFault) {
    if bytes[place...].starts(with: "<!DOCTYPE".utf8) { throw fault(.documentType) }
    if bytes[place...].starts(with: "<?".utf8) { throw fault(.processingInstruction) }
  }

  // MARK: Tags

  mutating func startTag() throws(XMLFault) -> (name: ArraySlice<UInt8>, isEmpty: Bool) {
    try refuseOthers()
    guard skip("<") else { throw fault(.malformedTag) }
    let name = try self.name()
    var attributes: Set<ArraySlice<UInt8>> = []
    while true {
      let before = place
      skipBlanks()
      if skip("/>") { return (name, true) }
      if skip(">") { return (name, false) }
      guard !isAtEnd else { throw fault(.unfinished) }
      guard place > before else { throw fault(.malformedTag) }
      let at = place
      let attribute = try self.attribute()
      guard attributes.insert(attribute).inserted else { throw fault(.repeatedAttribute, at: at) }
    }
  }

  /// Reads the rest of an end tag after `</`.
  mutating func endTag() throws(XMLFault) -> ArraySlice<UInt8> {
    let name = try self.name()
    skipBlanks()
    guard skip(">") else { throw fault(isAtEnd ? .unfinished : .malformedTag) }
    return name
  }

  private mutating func name() throws(XMLFault) -> ArraySlice<UInt8> {
    let start = place
    guard let first = peek else { throw fault(.unfinished) }
    guard XMLCharacters.beginsName(first) else { throw fault(.malformedTag) }
    while let byte = peek, XMLCharacters.isInName(byte) { place += 1 }
    return bytes[start..<place]
  }

  private mutating func attribute() throws(XMLFault) -> ArraySlice<UInt8> {
    let name = try self.name()
    skipBlanks()
    guard skip("=") else { throw fault(isAtEnd ? .unfinished : .malformedTag) }
    skipBlanks()
    guard let quote = peek else { throw fault(.unfinished) }
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      throw fault(.malformedTag)
    }
    place += 1
    while let byte = peek, byte != quote {
      switch byte {
      case UInt8(ascii: "<"): throw fault(.malformedTag)
      case UInt8(ascii: "&"): _ = try reference()
      default: place += 1
      }
    }
    guard !isAtEnd else { throw fault(.unfinished) }
    place += 1
    return name
  }

  // MARK: Text

  /// Reads character data up to the next tag: references are resolved, line ends are normalised to one
  /// character (section 2.11), comments are skipped.
  mutating func text() throws(XMLFault) -> String {
    var text: [UInt8] = []
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "<"):
        if try skipComment() { continue }
        guard skip("<![CDATA[") else {
          try refuseOthers()
          return String(decoding: text, as: UTF8.self)
        }
        guard let content = take(upTo: "]]>") else { throw fault(.unfinished, at: bytes.count) }
        Self.append(content, to: &text)
      case UInt8(ascii: "&"):
        text += try reference().utf8
      default:
        let start = place
        while let byte = peek, byte != UInt8(ascii: "<"), byte != UInt8(ascii: "&") {
          if byte == UInt8(ascii: "]"), bytes[place...].starts(with: "]]>".utf8) {
            throw fault(.strayMarkup)
          }
          place += 1
        }
        Self.append(bytes[start..<place], to: &text)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ content: ArraySlice<UInt8>, to text: inout [UInt8]) {
    guard content.contains(0xD) else {
      text += content
      return
    }
    var previous: UInt8 = 0
    for byte in content {
      if byte == 0xD {
        text.append(0xA)
      } else if byte != 0xA || previous != 0xD {
        text.append(byte)
      }
      previous = byte
    }
  }

  /// Reads `&name;`, `&#10;` or `&#xA;`.
  private mutating func reference() throws(XMLFault) -> String {
    let start = place
    let window = bytes[(place + 1)...].prefix(Self.referenceBytesMax)
    guard let end = window.firstIndex(of: UInt8(ascii: ";")) else {
      throw fault(.malformedReference)
    }
    let name = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
    place = end + 1
    guard name.hasPrefix("#") else {
      guard let entity = Self.entities.first(where: { $0.name == name }) else {
        throw fault(.unknownEntity, at: start)
      }
      return entity.text
    }
    let isHexadecimal = name.hasPrefix("#x")
    let digits = name.dropFirst(isHexadecimal ? 2 : 1)
    guard digits.first != "+", let value = UInt32(digits, radix: isHexadecimal ? 16 : 10),
      let scalar = Unicode.Scalar(value)
    else { throw fault(.malformedReference, at: start) }
    guard XMLCharacters.isLegal(scalar) else { throw fault(.illegalCharacter, at: start) }
    return String(scalar)
  }
}
