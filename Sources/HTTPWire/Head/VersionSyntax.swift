/// `HTTP/` digit `.` digit, in upper case (RFC 9112 2.3).
enum VersionSyntax {
  /// The version at an offset behind which at least eight bytes are there.
  @inline(__always)
  static func parse(
    _ bytes: UnsafeRawBufferPointer, at start: Int
  ) -> (major: UInt8, minor: UInt8)? {
    guard bytes[start] == UInt8(ascii: "H"), bytes[start + 1] == UInt8(ascii: "T"),
      bytes[start + 2] == UInt8(ascii: "T"), bytes[start + 3] == UInt8(ascii: "P"),
      bytes[start + 4] == ASCII.slash, bytes[start + 5].isDigit,
      bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
    else { return nil }
    return (bytes[start + 5] &- 0x30, bytes[start + 7] &- 0x30)
  }
}
