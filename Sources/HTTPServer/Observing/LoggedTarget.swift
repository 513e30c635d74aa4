import HTTPWire

/// Redaction of request targets for logs.
package enum LoggedTarget {
  /// The query parameters whose value grants access, in lower case: stream tickets, signatures of
  /// presigned links, and names that clients use for credentials.
  private static let secretNames = [
    "ticket", "signature", "x-amz-signature", "x-amz-security-token", "token", "access_token",
    "id_token", "refresh_token", "authorization", "password", "secret", "client_secret",
    "api_key", "api-key", "apikey",
  ].map { Array($0.utf8) }
  private static let percent = UInt8(ascii: "%")
  private static let equals = UInt8(ascii: "=")
  private static let ampersand = UInt8(ascii: "&")

  /// Appends the target with "..." in place of each secret value. The target is ASCII without blanks
  /// and controls.
  package static func append(_ target: ArraySlice<UInt8>, to output: inout [UInt8]) {
    guard let question = target.firstIndex(of: UInt8(ascii: "?")) else {
      output.append(contentsOf: target)
      return
    }
    output.append(contentsOf: target[...question])
    var rest = target[(question + 1)...]
    while true {
      let end = rest.firstIndex(of: ampersand) ?? rest.endIndex
      let parameter = rest[..<end]
      if let name = secretNames.first(where: { isNamed(parameter, $0) }) {
        output.append(contentsOf: name)
        output.append("=...")
      } else {
        output.append(contentsOf: parameter)
      }
      guard end < rest.endIndex else { return }
      output.append(ampersand)
      rest = rest[(end + 1)...]
    }
  }

  /// Returns whether a parameter has this name and a value. Every octet can be percent-encoded
  /// (RFC 3986 section 2.1), the equals sign too, and letters can have either case.
  private static func isNamed(_ parameter: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
    var rest = parameter
    for expected in name {
      guard let octet = takeOctet(from: &rest), lowercased(octet) == expected else { return false }
    }
    return takeOctet(from: &rest) == equals
  }

  private static func lowercased(_ octet: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= octet ? octet | 0x20 : octet
  }

  /// Removes the next octet, decoded; a `%` without two digits after it is kept as it is.
  private static func takeOctet(from text: inout ArraySlice<UInt8>) -> UInt8? {
    guard let first = text.popFirst() else { return nil }
    guard first == percent, text.count >= 2, let high = text[text.startIndex].hexValue,
      let low = text[text.startIndex + 1].hexValue
    else { return first }
    text.removeFirst(2)
    return high << 4 | low
  }
}
