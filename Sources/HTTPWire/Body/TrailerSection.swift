/// Checks the fields behind the last chunk and drops them (RFC 9112 7.1.2).
struct TrailerSection: Sendable {
  private var line: [UInt8] = []
  private var bytes = 0
  private var fields = 0
  private let bytesMax: Int
  private let fieldsMax: Int

  init(bytesMax: Int, fieldsMax: Int) {
    self.bytesMax = bytesMax
    self.fieldsMax = fieldsMax
  }

  /// Takes bytes up to the section's end. Returns whether it was reached.
  mutating func take(
    _ input: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(BodyError) -> Bool {
    while offset < input.count {
      let byte = input[offset]
      offset += 1
      bytes += 1
      // The closing CRLF does not count.
      guard bytes <= bytesMax + 2 else { throw .trailerTooLarge }
      if byte != ASCII.lineFeed {
        line.append(byte)
        continue
      }
      guard line.popLast() == ASCII.carriageReturn else { throw .malformedTrailer }
      if line.isEmpty { return true }
      try check()
      line.removeAll(keepingCapacity: true)
    }
    return false
  }

  private mutating func check() throws(BodyError) {
    fields += 1
    guard fields <= fieldsMax else { throw .trailerTooLarge }
    let isField = line.withUnsafeBytes { raw in
      (try? FieldLine.parse(raw, 0..<raw.count)) != nil
    }
    guard isField else { throw .malformedTrailer }
  }
}
