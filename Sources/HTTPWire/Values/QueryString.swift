/// The parameters of a query string, in order, including repeats.
package struct QueryString: Sendable, Hashable {
  /// One parameter, decoded.
  package struct Parameter: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The reason a query string cannot be parsed.
  package enum Fault: Error, Sendable, Hashable {
    /// A `%` not followed by two digits, or bytes that are not UTF-8.
    case malformedEncoding
    case tooManyParameters
  }

  /// Parameters in one query string.
  package static let parametersMax = 256

  package var parameters: [Parameter] = []

  package init() {}

  /// Splits at `&`, then at the first `=`; `+` is a space. A parameter without `=` has an empty
  /// value, and empty parameters are ignored.
  package init(_ query: ArraySlice<UInt8>) throws(Fault) {
    for part in query.split(separator: UInt8(ascii: "&")) {
      guard parameters.count < Self.parametersMax else { throw .tooManyParameters }
      let sides = part.split(
        separator: ASCII.equals, maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentCoding.decode(sides[0], plusIsSpace: true),
        let value = sides.count > 1 ? PercentCoding.decode(sides[1], plusIsSpace: true) : ""
      else { throw .malformedEncoding }
      parameters.append(Parameter(name: name, value: value))
    }
  }

  /// Splits a query given as text.
  package init(_ query: String) throws(Fault) {
    try self.init(ArraySlice(query.utf8))
  }

  /// The first value of a parameter.
  package subscript(name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  /// All values of a parameter, in order.
  package func values(_ name: String) -> [String] {
    parameters.filter { $0.name == name }.map(\.value)
  }

  /// The encoded query string.
  package var text: String {
    parameters
      .map { PercentCoding.encode($0.name) + "=" + PercentCoding.encode($0.value) }
      .joined(separator: "&")
  }
}
