/// Writes the parts of an object: numbers of fixed length, least significant byte first, and blobs after their lengths.
struct ObjectWriter {
  private(set) var bytes: [UInt8] = []

  mutating func number(_ value: Int64) {
    let bits = UInt64(bitPattern: value)
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
  }

  mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func blob(_ content: [UInt8]) {
    number(Int64(content.count))
    bytes += content
  }

  mutating func text(_ text: String) { blob(Array(text.utf8)) }
}

/// Reads what ``ObjectWriter`` wrote. What it reads is authentic, so a fault is one of the program or its version.
struct ObjectReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  mutating func number() throws(StandbyError) -> Int64 {
    guard bytes.count - place >= 8 else { throw Self.cutOff }
    var bits: UInt64 = 0
    for index in 0..<8 { bits |= UInt64(bytes[place + index]) << UInt64(index * 8) }
    place += 8
    return Int64(bitPattern: bits)
  }

  mutating func flag() throws(StandbyError) -> Bool {
    guard place < bytes.count else { throw Self.cutOff }
    defer { place += 1 }
    return bytes[place] != 0
  }

  /// A number of things, each of which takes a byte at least.
  mutating func count() throws(StandbyError) -> Int {
    let value = try number()
    guard value >= 0, value <= Int64(bytes.count - place) else { throw Self.cutOff }
    return Int(value)
  }

  mutating func blob() throws(StandbyError) -> [UInt8] {
    let length = try count()
    defer { place += length }
    return Array(bytes[place..<(place + length)])
  }

  mutating func text() throws(StandbyError) -> String {
    String(decoding: try blob(), as: UTF8.self)
  }

  /// Reads the format of an object, which comes first.
  mutating func format(_ known: Int64) throws(StandbyError) {
    let format = try number()
    guard format <= known else {
      throw .faulty(
        "it was written by a newer version of Larder (format \(format)); run that version")
    }
  }

  private static let cutOff = StandbyError.faulty("it ends too early")
}
