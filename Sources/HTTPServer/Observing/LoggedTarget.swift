import HTTPWire

/// A request target as it may be logged.
package enum LoggedTarget {
  /// How the parameter begins whose value opens a stream to whoever holds it.
  private static let secretStart = Array("ticket=".utf8)
  private static let percent = UInt8(ascii: "%")

  /// Appends the target, the value of `ticket` left out. It is ASCII without blanks and controls.
  package static func append(_ target: ArraySlice<UInt8>, to output: inout [UInt8]) {
    guard let question = target.firstIndex(of: UInt8(ascii: "?")),
      mayHoldSecret(target[question...])
    else {
      output.append(contentsOf: target)
      return
    }
    output.append(contentsOf: target[...question])
    let parameters = target[(question + 1)...].split(
      separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    for (index, parameter) in parameters.enumerated() {
      if index > 0 { output.append(UInt8(ascii: "&")) }
      if isSecret(parameter) {
        output.append(contentsOf: secretStart)
        output.append("...")
      } else {
        output.append(contentsOf: parameter)
      }
    }
  }

  private static func mayHoldSecret(_ query: ArraySlice<UInt8>) -> Bool {
    query.contains(percent)
      || query.indices.contains { query[$0...].starts(with: secretStart) }
  }

  /// Whether a parameter, its percent-encoding undone, begins as the secret one does: every octet
  /// of it may come encoded (RFC 3986 section 2.1), the equals sign too.
  private static func isSecret(_ parameter: ArraySlice<UInt8>) -> Bool {
    var rest = parameter
    for expected in secretStart {
      guard let octet = takeOctet(from: &rest), octet == expected else { return false }
    }
    return true
  }

  /// The next octet, decoded; a `%` without two digits behind it stands for itself.
  private static func takeOctet(from text: inout ArraySlice<UInt8>) -> UInt8? {
    guard let first = text.popFirst() else { return nil }
    guard first == percent, text.count >= 2, let high = text[text.startIndex].hexValue,
      let low = text[text.startIndex + 1].hexValue
    else { return first }
    text.removeFirst(2)
    return high << 4 | low
  }
}
