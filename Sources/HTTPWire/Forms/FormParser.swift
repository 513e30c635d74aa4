/// Reads the content of a form (`multipart/form-data`, RFC 7578), bytes in and events out.
///
/// Strict: the boundary stands at the very beginning, every line ends with CRLF, every part names its
/// field. At most the bytes of a boundary, or of one part's head, are held back.
package struct FormParser: Sendable {
  package static let partsMax = 200
  package static let headBytesMax = 8 * 1024

  private enum State: Sendable {
    /// Where the next thing is the first boundary.
    case start
    /// A boundary was read: a line's end or the two hyphens of the last one follow.
    case boundary
    case head
    case content
    case end
  }

  /// A line's end, two hyphens, the boundary.
  private let delimiter: [UInt8]
  private var state = State.start
  private var held: [UInt8] = []
  private var partCount = 0

  package init(_ boundary: FormBoundary) {
    delimiter = Array("\r\n--".utf8) + boundary.bytes
  }

  /// Takes in more of the content.
  package mutating func append(_ bytes: [UInt8]) {
    if state != .end { held += bytes }
  }

  /// The next event; nil where more of the content is needed.
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

  /// Says that nothing follows.
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
    // What could be the beginning of a delimiter waits for what follows.
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
