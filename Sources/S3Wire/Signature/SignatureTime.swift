package import HTTPWire

/// The moment of a signature, in the compact form that is signed: `20130524T000000Z`.
package struct SignatureTime: Hashable, Sendable {
  package let date: HTTPDate
  /// `yyyyMMdd'T'HHmmss'Z'`.
  package let text: String

  package init(_ date: HTTPDate) {
    self.date = date
    var bytes: [UInt8] = []
    date.appendTimestamp(to: &bytes)
    bytes.removeAll { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// - Returns: nil unless it is a real moment, written just so.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else {
      return nil
    }
    func digits(_ range: Range<Int>) -> Substring {
      Substring(decoding: bytes[range], as: UTF8.self)
    }
    let iso =
      "\(digits(0..<4))-\(digits(4..<6))-\(digits(6..<8))T"
      + "\(digits(9..<11)):\(digits(11..<13)):\(digits(13..<15))Z"
    guard let date = HTTPDate(isoText: iso) else { return nil }
    self.date = date
    self.text = String(text)
  }

  /// `yyyyMMdd`, as a scope begins.
  package var day: String { String(text.prefix(8)) }
}
