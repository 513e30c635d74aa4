package import LosslessJSON

/// What upstream said to one operation.
package struct UpstreamResponse: Sendable {
  package enum Kind: Hashable, Sendable {
    /// Data and no errors.
    case success
    /// Data that is not null, and errors.
    case partial
    /// Data null, and errors: executed and failed.
    case failedExecution
    /// Errors and no `data`: never executed.
    case requestError
  }

  package let kind: Kind
  /// The whole response, `data` and `errors` in it.
  package let document: JSONDocument
  /// The `data` member unless it is missing or null.
  package let data: JSONNode?
  /// The `errors` member if it is an array with members.
  package let errors: JSONNode?
  /// Set where an error's code or the status says so, whatever the kind.
  package let permission: PermissionProblem?
  package let status: Int
  /// The data may have members that were not selected, or one twice. False once it was checked.
  var hasSurplus = true

  /// Whether every error says where in the data it happened.
  package var errorsHavePaths: Bool {
    if case .anywhere = ErrorPath.read(errors) { false } else { true }
  }

  /// Reads the members; what is not an object with `data` or `errors` is no answer.
  ///
  /// - Parameter permission: what the dialect made of the status and the errors' codes.
  package init?(document: JSONDocument, status: Int = 200, permission: PermissionProblem? = nil) {
    let root = document.root
    guard root.kind == .object else { return nil }
    let data = root["data"]
    if let errors = root["errors"], !errors.isNull, errors.kind != .array { return nil }
    let errors = root["errors"].flatMap { $0.kind == .array && !$0.isEmpty ? $0 : nil }
    switch (data, errors) {
    case (let data?, nil) where !data.isNull: kind = .success
    case (let data?, _?): kind = data.isNull ? .failedExecution : .partial
    case (nil, _?): kind = .requestError
    // `{"data":null}` alone says nothing at all.
    default: return nil
    }
    self.document = document
    self.data = data.flatMap { $0.isNull ? nil : $0 }
    self.errors = errors
    self.permission = permission
    self.status = status
  }
}
