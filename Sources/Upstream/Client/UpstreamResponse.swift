package import LosslessJSON

/// Upstream's response to one operation.
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
  /// The whole response, including `data` and `errors`.
  package let document: JSONDocument
  /// The `data` member; nil if missing or null.
  package let data: JSONNode?
  /// The `errors` member if it is a non-empty array.
  package let errors: JSONNode?
  /// The refusal indicated by an error's code or the status, whatever the kind.
  package let permission: PermissionProblem?
  package let status: Int
  /// Whether the data can have unselected or repeated members. False once checked.
  var hasSurplus = true
  /// Whether upstream accepted the service's own credential; false if a user's or none was sent.
  package internal(set) var acceptsService = false

  /// Whether every error has a path.
  package var errorsHavePaths: Bool {
    if case .anywhere = ErrorPath.read(errors) { false } else { true }
  }

  /// Reads the members; nil for anything but an object with `data` or `errors`.
  ///
  /// - Parameter permission: the refusal found in the status or the errors' codes.
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
    // `{"data":null}` alone has no meaning.
    default: return nil
    }
    self.document = document
    self.data = data.flatMap { $0.isNull ? nil : $0 }
    self.errors = errors
    self.permission = permission
    self.status = status
  }
}

extension UpstreamResponse {
  /// The errors of a request that upstream refused as invalid before executing it; nil if it did
  /// not.
  ///
  /// Servers indicate it by the status, by a code, or by the specification's message for variable
  /// coercion. Errors of executed operations are not included.
  package var inputFaults: [InputFault]? {
    guard data == nil, permission == nil, let errors else { return nil }
    let elements = Array(errors.elements)
    // An error with a path belongs to a field (specification, 7.1.2): the operation was executed,
    // whatever the status. Some servers use 400 for every response without data.
    if kind == .failedExecution, elements.contains(where: { $0["path"]?.kind == .array }) {
      return nil
    }
    let isRefused =
      status == 400 || status == 422
      || kind == .requestError && elements.contains(where: Self.hasInputCode)
      || elements.allSatisfy { $0["path"] == nil && Self.variable(in: $0) != nil }
    return isRefused ? elements.map { InputFault($0, variable: Self.variable(in: $0)) } : nil
  }

  /// One fault of a refused request, with upstream's message.
  package struct InputFault: Sendable {
    /// The variable that the message names.
    package let variable: String?
    package let message: String

    init(_ error: JSONNode, variable: String?) {
      self.variable = variable
      message = error["message"]?.string ?? "was refused by the upstream API"
    }
  }

  private static func hasInputCode(_ error: JSONNode) -> Bool {
    let extensions = error["extensions"]
    let codes = [extensions?["code"], extensions?["classification"], error["errorType"]]
    return codes.contains { code in
      code?.string.map(inputCodes.contains) ?? false
    }
  }

  /// The codes of Apollo, graphql-java, Hasura and AppSync.
  private static let inputCodes: Set<String> = [
    "BAD_USER_INPUT", "BAD_REQUEST", "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED",
    "ValidationError", "InvalidSyntax", "validation-failed", "parse-failed", "data-exception",
    "bad-request", "MalformedHttpRequestException", "GraphQLValidationException",
  ]

  /// Extracts `offset` from `Variable "$offset" got invalid value null`, however it is quoted.
  private static func variable(in error: JSONNode) -> String? {
    guard let message = error["message"]?.string, message.hasPrefix("Variable "),
      let dollar = message.firstIndex(of: "$")
    else { return nil }
    let name = message[message.index(after: dollar)...].prefix {
      $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber)
    }
    return name.isEmpty ? nil : String(name)
  }
}

/// A refusal of the caller by upstream. It is a response, not a failure, so no stale data is shown
/// in its place.
package enum PermissionProblem: Hashable, Sendable {
  /// The credential is missing, expired or wrong.
  case unauthenticated
  /// The credential is valid but does not allow this.
  case forbidden
}

extension PermissionProblem {
  /// Reads an error's code by the names in use: Apollo's, Hasura's, and AppSync's, which can be
  /// qualified (`com.amazonaws…#UnauthorizedException`). Nil for other codes.
  init?(code: String) {
    switch code.split(separator: "#").last {
    case "UNAUTHENTICATED", "access-denied", "invalid-jwt", "invalid-headers",
      "jwt-invalid-claims", "jwt-missing-role-claims", "UnauthorizedException":
      self = .unauthenticated
    case "FORBIDDEN", "permission-error", "permission-denied", "Unauthorized":
      self = .forbidden
    default: return nil
    }
  }

  package init?(status: Int) {
    switch status {
    case 401: self = .unauthenticated
    case 403: self = .forbidden
    default: return nil
    }
  }
}

/// Error codes by which a server reports that it is overloaded: it executed nothing, and the same
/// request can succeed later.
package enum ThrottlingCode {
  private static let codes: Set<String> = [
    // Hasura.
    "postgres-max-connections-error", "busy", "rate-limit-exceeded", "tenant-limit-exceeded",
    // AppSync, and codes of DynamoDB and Lambda that its resolvers pass on.
    "ThrottlingException", "ThrottledException", "LimitExceededError", "LimitExceededException",
    "TooManyRequestsException", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
    // Other servers.
    "RATE_LIMITED", "THROTTLED", "TOO_MANY_REQUESTS",
  ]

  /// - Parameter code: can be qualified, as AppSync's are (`DynamoDB:ThrottlingException`,
  ///   `com.amazonaws…#ThrottlingException`).
  package static func contains(_ code: String) -> Bool {
    code.split { $0 == "#" || $0 == ":" }.last.map { codes.contains(String($0)) } ?? false
  }
}
