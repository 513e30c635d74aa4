/// Writes the parts of a log row: numbers of variable length, and texts and blobs after their lengths.
struct LogWriter {
  private(set) var bytes: [UInt8] = []

  /// Writes a number in groups of seven bits, the lowest first (LEB128).
  mutating func count(_ value: Int) { unsigned(UInt64(value)) }

  /// Writes a number of either sign, so that small ones are short (zigzag).
  mutating func signed(_ value: Int64) {
    unsigned(UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63))
  }

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func text(_ text: String) {
    var text = text
    text.withUTF8 { blob($0) }
  }

  mutating func optional(_ text: String?) {
    flag(text != nil)
    if let text { self.text(text) }
  }

  mutating func blob(_ content: UnsafeBufferPointer<UInt8>) {
    count(content.count)
    bytes.append(contentsOf: content)
  }

  mutating func raw(_ content: [UInt8]) { bytes += content }

  mutating func value(_ value: StoredValue) {
    switch value {
    case .null: byte(0)
    case .integer(let number):
      byte(1)
      signed(number)
    case .real(let number):
      byte(2)
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        byte(UInt8(truncatingIfNeeded: number.bitPattern >> shift))
      }
    case .text(let content):
      byte(3)
      content.withUnsafeBufferPointer { blob($0) }
    case .blob(let content):
      byte(4)
      content.withUnsafeBufferPointer { blob($0) }
    }
  }

  private mutating func unsigned(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// Reads what ``LogWriter`` wrote. Throws ``LogFault/truncated`` at the end of the bytes.
struct LogReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  mutating func count() throws(LogFault) -> Int {
    let value = try unsigned()
    guard value <= UInt64(bytes.count) else { throw .malformed("a count is larger than the row") }
    return Int(value)
  }

  mutating func signed() throws(LogFault) -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: (value >> 1) ^ (0 &- (value & 1)))
  }

  mutating func byte() throws(LogFault) -> UInt8 {
    guard place < bytes.count else { throw .truncated }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func flag() throws(LogFault) -> Bool { try byte() != 0 }

  mutating func text() throws(LogFault) -> String { String(decoding: try slice(), as: UTF8.self) }

  mutating func optionalText() throws(LogFault) -> String? { try flag() ? text() : nil }

  mutating func value() throws(LogFault) -> StoredValue {
    switch try byte() {
    case 0: return .null
    case 1: return .integer(try signed())
    case 2:
      var bits: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bits |= UInt64(try byte()) << shift }
      return .real(Double(bitPattern: bits))
    case 3: return .text(Array(try slice()))
    case 4: return .blob(Array(try slice()))
    case let kind: throw .malformed("a value has the unknown kind \(kind)")
    }
  }

  private mutating func slice() throws(LogFault) -> ArraySlice<UInt8> {
    let length = try count()
    guard length <= bytes.count - place else { throw .truncated }
    defer { place += length }
    return bytes[place..<(place + length)]
  }

  private mutating func unsigned() throws(LogFault) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 63 || next <= 1 else { throw .malformed("a number is too long") }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return value }
      shift += 7
    }
  }
}

/// A fault of a log row. It was damaged, or written by a version that this one cannot read.
package enum LogFault: Error, Sendable, Hashable {
  case truncated
  case malformed(String)
  /// Written by a newer Larder, in a format that this one does not know.
  case newerFormat(Int)
}
