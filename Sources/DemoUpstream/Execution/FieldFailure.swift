import LosslessJSON

/// Why a field has no value; becomes one element of the answer's `errors`.
struct FieldFailure: Error, Sendable {
  let message: String
  /// Members of `extensions`; usually `code` comes first.
  let extensions: [JSONMember]

  init(_ message: String, code: String? = nil, extensions: [JSONMember] = []) {
    self.message = message
    self.extensions = (code.map { [JSONMember("code", .string($0))] } ?? []) + extensions
  }
}
