/// The parser: validates a text by RFC 8259 in one pass and builds its tape.
///
/// It never copies text. Strings are scanned eight bytes at a time; only those with bytes above 0x7F
/// are then validated as UTF-8 by the standard library.
struct JSONTapeBuilder: ~Copyable {
  let base: UnsafePointer<UInt8>
  let start: Int
  let end: Int
  let limits: JSONLimits
  var position: Int
  var nodes: JSONTapeStorage
  /// Whether there is white space inside the value, so that the text is not compact.
  var sawSpace = false
  /// The node of the innermost open container; -1 for none. That of an open container has the number of the node
  /// around it, plus one, in `next`.
  private var innermost = -1
  private var depth = 0

  init(text: UnsafeBufferPointer<UInt8>, range: Range<Int>, limits: JSONLimits) {
    // An empty array may have no base address; no byte of it is ever read.
    base = text.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
    start = range.lowerBound
    end = range.upperBound
    position = range.lowerBound
    self.limits = limits
    nodes = JSONTapeStorage(capacity: range.count / 12 + 8)
  }

  mutating func build() throws(JSONParseError) {
    guard end - start <= limits.bytesMax else {
      throw failure(.tooLarge(limit: limits.bytesMax), at: start)
    }
    skipSpace()
    sawSpace = false
    while true {
      guard nodes.count <= limits.valuesMax else {
        throw failure(.tooManyValues(limit: limits.valuesMax), at: position)
      }
      let opened = try readValue()
      if !opened, try !finishValue() { break }
    }
    let valueEnd = position
    let compact = !sawSpace
    skipSpace()
    sawSpace = !compact
    guard position == end else { throw failure(.trailingContent, at: valueEnd) }
  }

  // MARK: Structure

  /// Reads a leaf or an empty container, or opens a container and stops before its first value.
  ///
  /// - Returns: whether a container was opened, so that its first value comes next.
  private mutating func readValue() throws(JSONParseError) -> Bool {
    skipSpace()
    guard position < end else { throw failure(.unexpectedEnd, at: position) }
    switch base[position] {
    case UInt8(ascii: "\""):
      try readString()
      return false
    case UInt8(ascii: "{"):
      try openContainer(.object)
      if peek() == UInt8(ascii: "}") {
        closeContainer()
        return false
      }
      try readName()
      return true
    case UInt8(ascii: "["):
      try openContainer(.array)
      if peek() == UInt8(ascii: "]") {
        closeContainer()
        return false
      }
      return true
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try readNumber()
    case UInt8(ascii: "t"):
      try readWord("true", .true)
    case UInt8(ascii: "f"):
      try readWord("false", .false)
    case UInt8(ascii: "n"):
      try readWord("null", .null)
    case let byte:
      throw failure(.unexpectedByte(byte), at: position)
    }
    return false
  }

  /// Closes containers that end here and moves to the next value.
  ///
  /// - Returns: false once the root is complete.
  private mutating func finishValue() throws(JSONParseError) -> Bool {
    while innermost >= 0 {
      guard let byte = peek() else { throw failure(.unexpectedEnd, at: position) }
      let isObject = nodes[innermost].kind == .object
      if byte == UInt8(ascii: ",") {
        position += 1
        if isObject { try readName() }
        return true
      }
      guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
        throw failure(.unexpectedByte(byte), at: position)
      }
      closeContainer()
    }
    return false
  }

  private mutating func openContainer(_ kind: JSONKind) throws(JSONParseError) {
    guard depth < limits.depthMax else {
      throw failure(.tooDeep(limit: limits.depthMax), at: position)
    }
    let around = UInt32(truncatingIfNeeded: innermost + 1)
    innermost = nodes.count
    depth += 1
    nodes.append(
      JSONTapeNode(
        start: UInt32(truncatingIfNeeded: position), end: 0, next: around, kind: kind, flags: 0))
    position += 1
  }

  private mutating func closeContainer() {
    position += 1
    let index = innermost
    innermost = Int(nodes[index].next) - 1
    depth -= 1
    nodes[index].end = UInt32(truncatingIfNeeded: position)
    nodes[index].next = UInt32(truncatingIfNeeded: nodes.count)
  }

  private mutating func readName() throws(JSONParseError) {
    guard let quote = peek() else { throw failure(.unexpectedEnd, at: position) }
    guard quote == UInt8(ascii: "\"") else { throw failure(.unexpectedByte(quote), at: position) }
    try readString()
    guard let colon = peek() else { throw failure(.unexpectedEnd, at: position) }
    guard colon == UInt8(ascii: ":") else { throw failure(.unexpectedByte(colon), at: position) }
    position += 1
  }

  /// The next byte that is not white space.
  @inline(__always)
  private mutating func peek() -> UInt8? {
    skipSpace()
    return position < end ? base[position] : nil
  }

  @inline(__always)
  private mutating func skipSpace() {
    guard position < end, base[position] <= 0x20 else { return }
    skipSpaceSlowly()
  }

  @inline(never)
  private mutating func skipSpaceSlowly() {
    let from = position
    while position < end {
      switch base[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default:
        if position > from { sawSpace = true }
        return
      }
    }
    if position > from { sawSpace = true }
  }

  // MARK: Leaves

  @inline(__always)
  mutating func appendLeaf(_ kind: JSONKind, from: Int, flags: UInt8 = 0) {
    nodes.append(
      JSONTapeNode(
        start: UInt32(truncatingIfNeeded: from), end: UInt32(truncatingIfNeeded: position),
        next: UInt32(truncatingIfNeeded: nodes.count + 1), kind: kind, flags: flags))
  }

  private mutating func readWord(
    _ word: StaticString, _ kind: JSONKind
  ) throws(JSONParseError) {
    let from = position
    for offset in 0..<word.utf8CodeUnitCount {
      guard position < end else { throw failure(.unexpectedEnd, at: position) }
      guard base[position] == word.utf8Start[offset] else {
        throw failure(.unexpectedByte(base[position]), at: position)
      }
      position += 1
    }
    appendLeaf(kind, from: from)
  }

  private mutating func readNumber() throws(JSONParseError) {
    let from = position
    var flags = JSONTapeNode.integral
    if base[position] == UInt8(ascii: "-") { position += 1 }
    if position < end, base[position] == UInt8(ascii: "0") {
      position += 1
      if isDigit() { throw failure(.malformedNumber, at: position) }
    } else {
      try skipDigits()
    }
    if position < end, base[position] == UInt8(ascii: ".") {
      flags = 0
      position += 1
      try skipDigits()
    }
    if position < end, base[position] | 0x20 == UInt8(ascii: "e") {
      flags = 0
      position += 1
      if position < end, base[position] == UInt8(ascii: "+") || base[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      try skipDigits()
    }
    appendLeaf(.number, from: from, flags: flags)
  }

  @inline(__always)
  private func isDigit() -> Bool {
    position < end && base[position] &- UInt8(ascii: "0") < 10
  }

  @inline(__always)
  private mutating func skipDigits() throws(JSONParseError) {
    guard isDigit() else {
      throw failure(position < end ? .malformedNumber : .unexpectedEnd, at: position)
    }
    repeat { position += 1 } while isDigit()
  }
}
