/// Reads a document as a whole: elements and text, as S3 and its clients exchange them.
///
/// Strict, since it reads what comes from outside: no document type, and so no entities but the five
/// that XML has; no processing instructions; UTF-8 alone. Attributes are read and dropped. Nothing
/// is read recursively, so depth costs memory and no stack.
package struct XMLReader {
  private var scanner: XMLScanner
  private let limits: XMLLimits
  private var elementCount = 0
  /// The elements around the place, outermost first, and their names as they stand in the tags.
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

  /// Reads on to the next beginning or end of an element.
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
