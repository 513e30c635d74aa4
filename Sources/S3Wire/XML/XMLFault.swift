/// Why a document was not read, and where.
package struct XMLFault: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    case tooLarge
    case tooDeep
    case tooManyElements
    /// No UTF-8, or a character that XML 1.0 does not have.
    case illegalCharacter
    /// In an encoding other than UTF-8.
    case otherEncoding
    /// A document type: it is where entities of one's own, and so attacks, are declared.
    case documentType
    case processingInstruction
    /// An entity other than the five that XML itself has.
    case unknownEntity
    case malformedReference
    case malformedTag
    case malformedComment
    case repeatedAttribute
    /// An end that does not belong to the element that is open.
    case otherEnd
    /// `]]>` in text.
    case strayMarkup
    case noElement
    case contentAfterElement
    /// The document ends before its element does.
    case unfinished
  }

  package let kind: Kind
  /// Bytes in front of the fault.
  package let offset: Int
  /// From 1.
  package let line: Int
  /// In bytes, from 1.
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
