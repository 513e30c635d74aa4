/// A reader of whole documents: elements and text, as S3 and its clients exchange them.
///
/// It is strict, because its input is untrusted: no document type, and so only the five predefined
/// entities; no processing instructions; only UTF-8. Attributes are parsed and dropped. It is not
/// recursive, so depth costs memory but no stack.
package struct XMLReader {
  private var scanner: XMLScanner
  private let limits: XMLLimits
  private var elementCount = 0
  /// The open elements, outermost first, with their names as in the tags.
  private var open: [(element: XMLElement, name: ArraySlice<UInt8>)] = []

  package static func read(
    _ bytes: [UInt8], within limits: XMLLimits = XMLLimits()
  ) throws(XMLFault) -> XMLElement {
    guard bytes.count <= limits.bytesMax else {
      throw XMLFault(.tooLarge, at: limits.bytesMax, in: bytes)
    }
    if let offset = XMLCharacters.firstIllegal(in: bytes) {
      throw XMLFault(.illegalCharacter, at: offset, in: bytes)
    }
    var reader = XMLReader(scanner: XMLScanner(bytes), limits: limits)
    return try reader.document()
  }

  private init(scanner: XMLScanner, limits: XMLLimits) {
    self.scanner = scanner
    self.limits = limits
  }

  private mutating func document() throws(XMLFault) -> XMLElement {
    try scanner.skipDeclaration()
    try scanner.skipBetween()
    guard scanner.peek == UInt8(ascii: "<") else { throw scanner.fault(.noElement) }
    var root: XMLElement?
    while root == nil { root = try step() }
    try scanner.skipBetween()
    guard scanner.isAtEnd else { throw scanner.fault(.contentAfterElement) }
    return root ?? XMLElement("")
  }

  /// Reads up to the next beginning or end of an element.
  ///
  /// - Returns: the outermost element, once it has ended.
  private mutating func step() throws(XMLFault) -> XMLElement? {
    if !open.isEmpty {
      let text = try scanner.text()
      open[open.count - 1].element.text += text
    }
    guard !scanner.isAtEnd else { throw scanner.fault(.unfinished) }
    let place = scanner.place
    if scanner.skip("</") {
      let name = try scanner.endTag()
      guard let (element, opened) = open.popLast(), opened == name else {
        throw scanner.fault(.otherEnd, at: place)
      }
      return close(element)
    }
    let (name, isEmpty) = try scanner.startTag()
    elementCount += 1
    guard elementCount <= limits.elementsMax else {
      throw scanner.fault(.tooManyElements, at: place)
    }
    guard open.count < limits.depthMax else { throw scanner.fault(.tooDeep, at: place) }
    let local = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last
    guard let local, let first = local.first, XMLCharacters.beginsName(first) else {
      throw scanner.fault(.malformedTag, at: place)
    }
    let element = XMLElement(String(decoding: local, as: UTF8.self))
    if isEmpty { return close(element) }
    open.append((element, name))
    return nil
  }

  private mutating func close(_ element: XMLElement) -> XMLElement? {
    guard !open.isEmpty else { return element }
    open[open.count - 1].element.children.append(element)
    return nil
  }
}

/// An element of a document: its children in order, and its text.
package struct XMLElement: Hashable, Sendable {
  /// The name without a namespace prefix, which only some of S3's clients send.
  package var name: String
  /// All character data directly in the element, concatenated.
  package var text: String
  package var children: [XMLElement]

  package init(_ name: String, text: String = "", children: [XMLElement] = []) {
    self.name = name
    self.text = text
    self.children = children
  }

  /// The first child with a name.
  package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  /// All children with a name.
  package func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}

/// Limits on a document.
package struct XMLLimits: Hashable, Sendable {
  package var bytesMax: Int
  /// The maximum depth of nested elements.
  package var depthMax: Int
  package var elementsMax: Int

  /// The defaults fit the largest document of S3: ten thousand parts, each with its checksums.
  package init(bytesMax: Int = 4 << 20, depthMax: Int = 16, elementsMax: Int = 100_000) {
    self.bytesMax = bytesMax
    self.depthMax = depthMax
    self.elementsMax = elementsMax
  }
}

/// An error in a document, with its position.
package struct XMLFault: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    case tooLarge
    case tooDeep
    case tooManyElements
    /// Bytes that are not UTF-8, or a character that XML 1.0 does not allow.
    case illegalCharacter
    /// An encoding other than UTF-8.
    case otherEncoding
    /// A document type, which can declare entities and so mount attacks.
    case documentType
    case processingInstruction
    /// An entity other than the five predefined ones.
    case unknownEntity
    case malformedReference
    case malformedTag
    case malformedComment
    case repeatedAttribute
    /// An end tag that does not match the open element.
    case otherEnd
    /// `]]>` in text.
    case strayMarkup
    case noElement
    case contentAfterElement
    /// The document ends within its element.
    case unfinished
  }

  package let kind: Kind
  /// The number of bytes before the error.
  package let offset: Int
  /// The line, counted from 1.
  package let line: Int
  /// The column in bytes, counted from 1.
  package let column: Int

  init(_ kind: Kind, at offset: Int, in bytes: [UInt8]) {
    let before = bytes.prefix(offset)
    let lineEnd = before.lastIndex(of: UInt8(ascii: "\n"))
    self.kind = kind
    self.offset = offset
    line = before.count { $0 == UInt8(ascii: "\n") } + 1
    column = offset - (lineEnd.map { $0 + 1 } ?? 0) + 1
  }

  package var description: String { "\(kind) in line \(line), column \(column)" }
}
