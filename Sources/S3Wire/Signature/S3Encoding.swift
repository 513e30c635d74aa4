package import HTTPWire

/// Percent-encoding as signatures are made over: every byte but letters, digits and `-._~`, once,
/// with upper-case digits. Nothing is normalised: `//`, `/./` and `%2F` stay what they are.
package enum S3Encoding {
  /// A path of raw text. Slashes stay bare.
  package static func path(_ text: some StringProtocol) -> String {
    Substring(text).utf8
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { PercentCoding.encode(Substring($0)) }
      .joined(separator: "/")
  }

  /// A name or a value of a query. Slashes are encoded too.
  package static func query(_ text: some StringProtocol) -> String {
    PercentCoding.encode(text)
  }

  /// The one way to write a path that came over the wire in any.
  ///
  /// - Returns: nil where a `%` has no digits behind it, or it stands for no text.
  package static func canonicalPath(_ wirePath: some StringProtocol) -> String? {
    PercentCoding.decode(wirePath).map { path($0) }
  }

  /// The one way to write a query: encoded, then sorted by name and value. A name without a value
  /// gets an empty one.
  package static func canonicalQuery(
    _ parameters: some Sequence<QueryString.Parameter>
  ) -> String {
    parameters.map { (query($0.name), query($0.value)) }
      .sorted { $0.0 == $1.0 ? precedes($0.1, $1.1) : precedes($0.0, $1.0) }
      .map { "\($0.0)=\($0.1)" }
      .joined(separator: "&")
  }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
