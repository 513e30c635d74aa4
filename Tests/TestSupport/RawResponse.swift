/// A response as received, its body unframed.
package struct RawResponse: Sendable {
  package let status: Int
  /// The fields in their order, names in lower case.
  package let headers: [(String, String)]
  package let body: [UInt8]

  package var text: String { String(decoding: body, as: UTF8.self) }

  /// The value of the first field with a name.
  package subscript(name: String) -> String? {
    headers.first { $0.0 == name.lowercased() }?.1
  }
}
