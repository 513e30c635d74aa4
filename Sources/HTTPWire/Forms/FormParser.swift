/// The boundary between the parts of a form, from a `Content-Type` of `multipart/form-data`
/// (RFC 2046 5.1.1, RFC 7578 4.1).
package struct FormBoundary: Sendable, Hashable {
  /// The limit of RFC 2046 5.1.1.
  private static let bytesMax = 70

  let bytes: [UInt8]

  /// - Returns: nil for another media type, and for a missing or invalid boundary.
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

/// An event of a form's content, in order.
package enum FormEvent: Sendable, Hashable {
  case part(FormPart)
  /// Content of the part that began last.
  case content([UInt8])
  case partEnd
  /// The closing boundary; everything after it is ignored.
  case end
}

/// The reason a form cannot be parsed.
package enum FormFault: Error, Sendable, Hashable {
  /// The content does not begin with the boundary, or a boundary is not followed by a line end.
  case boundary
  /// The head of a part cannot be read, names no field, or is too long.
  case head
  case tooManyParts
  /// The content ended before the closing boundary.
  case incomplete
}

/// Incremental parser for a form (`multipart/form-data`, RFC 7578): bytes in, events out.
///
/// It is strict: the content starts with the boundary, every line ends with CRLF, and every part names
/// its field. It buffers at most the bytes of a boundary or of one part's head.
package struct FormParser: Sendable {
  package static let partsMax = 200
  package static let headBytesMax = 8 * 1024

  private enum State: Sendable {
    /// Before the first boundary.
    case start
    /// After a boundary: a line end or the two hyphens of the last one follow.
    case boundary
    case head
    case content
    case end
  }

  /// A line end, two hyphens, the boundary.
  private let delimiter: [UInt8]
  private var state = State.start
  private var held: [UInt8] = []
  private var partCount = 0

  package init(_ boundary: FormBoundary) {
    delimiter = Array("\r\n--".utf8) + boundary.bytes
  }

  /// Adds more of the content.
  package mutating func append(_ bytes: [UInt8]) {
    if state != .end { held += bytes }
  }

  /// Returns the next event; nil if more of the content is needed.
  package mutating func next() throws(FormFault) -> FormEvent? {
    while true {
      switch state {
      case .start:
        let first = delimiter.dropFirst(2)
        guard held.count >= first.count else {
          guard first.starts(with: held) else { throw .boundary }
          return nil
        }
        guard held.starts(with: first) else { throw .boundary }
        held.removeFirst(first.count)
        state = .boundary
      case .boundary:
        guard held.count >= 2 else { return nil }
        let mark = held.prefix(2)
        if mark.elementsEqual("--".utf8) {
          state = .end
          held = []
          return .end
        }
        guard mark.elementsEqual("\r\n".utf8) else { throw .boundary }
        held.removeFirst(2)
        state = .head
      case .head: return try takeHead()
      case .content: return takeContent()
      case .end: return nil
      }
    }
  }

  /// Notes that the content has ended.
  ///
  /// - Throws: ``FormFault/incomplete`` before the closing boundary.
  package func finish() throws(FormFault) {
    guard state == .end else { throw .incomplete }
  }

  private mutating func takeHead() throws(FormFault) -> FormEvent? {
    guard let end = Self.firstIndex(of: Array("\r\n\r\n".utf8), in: held) else {
      guard held.count < Self.headBytesMax + 4 else { throw .head }
      return nil
    }
    guard end <= Self.headBytesMax, let part = FormPart(head: held[..<end]) else { throw .head }
    partCount += 1
    guard partCount <= Self.partsMax else { throw .tooManyParts }
    held.removeFirst(end + 4)
    state = .content
    return .part(part)
  }

  private mutating func takeContent() -> FormEvent? {
    if let end = Self.firstIndex(of: delimiter, in: held) {
      if end > 0 {
        let content = Array(held[..<end])
        held.removeFirst(end)
        return .content(content)
      }
      held.removeFirst(delimiter.count)
      state = .boundary
      return .partEnd
    }
    // Bytes that could begin a delimiter wait for the bytes that follow.
    let ready = held.count - delimiter.count + 1
    guard ready > 0 else { return nil }
    let content = Array(held[..<ready])
    held.removeFirst(ready)
    return .content(content)
  }

  private static func firstIndex(of wanted: [UInt8], in bytes: [UInt8]) -> Int? {
    guard let first = wanted.first, bytes.count >= wanted.count else { return nil }
    return bytes.withUnsafeBufferPointer { bytes in
      var place = 0
      let last = bytes.count - wanted.count
      while place <= last {
        if bytes[place] == first, (1..<wanted.count).allSatisfy({ bytes[place + $0] == wanted[$0] })
        {
          return place
        }
        place += 1
      }
      return nil
    }
  }
}
