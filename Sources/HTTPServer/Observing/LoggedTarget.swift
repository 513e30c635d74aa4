import HTTPWire

/// A request target as it may be logged.
package enum LoggedTarget {
  /// The parameter whose value opens a stream to whoever holds it.
  private static let secretName = "ticket="

  /// Appends the target, the value of `ticket` left out. It is ASCII without blanks and controls.
  package static func append(_ target: ArraySlice<UInt8>, to output: inout [UInt8]) {
    guard let question = target.firstIndex(of: UInt8(ascii: "?")),
      holdsSecretName(target[question...])
    else {
      output.append(contentsOf: target)
      return
    }
    output.append(contentsOf: target[...question])
    let parameters = target[(question + 1)...].split(
      separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    for (index, parameter) in parameters.enumerated() {
      if index > 0 { output.append(UInt8(ascii: "&")) }
      if parameter.starts(with: secretName.utf8) {
        output.append(contentsOf: secretName.utf8)
        output.append("...")
      } else {
        output.append(contentsOf: parameter)
      }
    }
  }

  private static func holdsSecretName(_ query: ArraySlice<UInt8>) -> Bool {
    query.indices.contains { query[$0...].starts(with: secretName.utf8) }
  }
}
