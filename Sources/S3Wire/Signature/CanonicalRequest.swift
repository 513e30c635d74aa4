package import HTTPWire

/// A request in the one form that its signature is made over, whoever writes it.
package struct CanonicalRequest: Hashable, Sendable {
  /// A field of the request. Its name may be in any case.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Names in lower case, in order.
  package let signedFields: [String]
  package let text: String

  /// - Parameters:
  ///   - path: encoded, with the bytes that are sent (``S3Encoding/path(_:)``), or what
  ///     ``S3Encoding/canonicalPath(_:)`` makes of a path that was received.
  ///   - query: decoded, without `X-Amz-Signature`.
  ///   - fields: those to be signed, and no others. Several of one name are joined by commas, in
  ///     their order.
  package init(
    method: String, path: String, query: [QueryString.Parameter] = [], fields: [Field],
    payload: PayloadHash
  ) {
    var values: [String: [String]] = [:]
    for field in fields {
      values[field.name.lowercased(), default: []].append(Self.trimmed(field.value))
    }
    signedFields = values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let lines = signedFields.map { "\($0):\(values[$0, default: []].joined(separator: ","))\n" }
    text = [
      method, path, S3Encoding.canonicalQuery(query), lines.joined(),
      signedFields.joined(separator: ";"), payload.text,
    ].joined(separator: "\n")
  }

  /// What its signature is made over.
  package func stringToSign(at time: SignatureTime, scope: SignatureScope) -> String {
    [SignatureAlgorithm.name, time.text, scope.text, SignatureDigest.of(text)]
      .joined(separator: "\n")
  }

  /// Blanks at the ends go, and runs of them within become one.
  private static func trimmed(_ value: String) -> String {
    value.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      .map { Substring($0) }
      .joined(separator: " ")
  }
}
