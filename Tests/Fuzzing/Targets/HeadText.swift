import HTTPWire

/// Request heads as text, to compare and to parse again.
enum HeadText {
  static func describe(_ head: RequestHead) -> String {
    var text =
      "\(head.method) \(string(head.target)) path \(string(head.path)) "
      + "query \(head.query.map(string) ?? "-") host \(head.authority.map(string) ?? "-") "
      + "1.\(head.minorVersion) \(head.framing) keeps \(head.keepsAlive) "
      + "expects \(head.expectsContinue) upgrade \(head.asksForUpgrade)"
    for index in 0..<head.fields.count {
      text += " | \(string(head.fields.name(at: index))): \(string(head.fields.value(at: index)))"
    }
    return text
  }

  /// Checks the invariants of every accepted head, and that it parses to the same head when it is written
  /// plainly.
  static func checkRequest(_ head: RequestHead) {
    Finding.require(head.path.first == 0x2F || string(head.path) == "*", "a path of another form")
    Finding.require(head.minorVersion == 0 || head.authority?.isEmpty == false, "no host")
    for index in 0..<head.fields.count {
      let name = head.fields.name(at: index)
      let value = head.fields.value(at: index)
      Finding.require(!name.isEmpty && !name.contains { $0 <= 0x20 || $0 >= 0x7F }, "a bad name")
      Finding.require(!value.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F }, "a bad value")
      Finding.require(value.first != 0x20 && value.last != 9, "blanks around a value")
    }
    let again = reread(head)
    Finding.require(
      again.map(describe) == describe(head),
      "read again\n\(describe(head))\n\(again.map(describe) ?? "-")")
  }

  private static func reread(_ head: RequestHead) -> RequestHead? {
    var bytes = Array("\(head.method.name) ".utf8) + head.target
    bytes += Array(" HTTP/1.\(head.minorVersion)\r\n".utf8)
    for index in 0..<head.fields.count {
      bytes += Array(head.fields.name(at: index)) + [0x3A, 0x20]
      bytes += Array(head.fields.value(at: index)) + [0x0D, 0x0A]
    }
    bytes += [0x0D, 0x0A]
    // The space after a colon can be new, so a field can be one byte longer than before.
    var parser = RequestParser(limits: HeadLimits(headBytesMax: 64 * 1024, fieldBytesMax: 32_768))
    let taken = bytes.withUnsafeBytes { try? parser.parse($0) }
    return taken == bytes.count ? parser.head : nil
  }

  /// Every byte as one character, so that different bytes stay different.
  static func string(_ bytes: ArraySlice<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes { text.append(Unicode.Scalar(byte)) }
    return String(text)
  }
}
