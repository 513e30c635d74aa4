import LosslessJSON

extension UpstreamResponse {
  /// The errors by which upstream refuses the request as invalid, before it executed anything; nil
  /// where it did not.
  ///
  /// Servers say so by their status, by a code, or by the message of the specification's own
  /// variable coercion. What was executed and failed is not among them.
  package var inputFaults: [InputFault]? {
    guard data == nil, permission == nil, let errors else { return nil }
    let elements = Array(errors.elements)
    // An error with a path is a field's (specification, 7.1.2): it was executed, whatever status the
    // server gives that. Some give 400 to every response without data.
    if kind == .failedExecution, elements.contains(where: { $0["path"]?.kind == .array }) {
      return nil
    }
    let isRefused =
      status == 400 || status == 422
      || kind == .requestError && elements.contains(where: Self.hasInputCode)
      || elements.allSatisfy { $0["path"] == nil && Self.variable(in: $0) != nil }
    return isRefused ? elements.map { InputFault($0, variable: Self.variable(in: $0)) } : nil
  }

  /// One fault of a refused request, in upstream's words.
  package struct InputFault: Sendable {
    /// The variable that the message names.
    package let variable: String?
    package let message: String

    init(_ error: JSONNode, variable: String?) {
      self.variable = variable
      message = error["message"]?.string ?? "is refused by the upstream API"
    }
  }

  private static func hasInputCode(_ error: JSONNode) -> Bool {
    let extensions = error["extensions"]
    let codes = [extensions?["code"], extensions?["classification"], error["errorType"]]
    return codes.contains { code in
      code?.string.map(inputCodes.contains) ?? false
    }
  }

  /// Apollo's, graphql-java's, Hasura's and AppSync's names.
  private static let inputCodes: Set<String> = [
    "BAD_USER_INPUT", "BAD_REQUEST", "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED",
    "ValidationError", "InvalidSyntax", "validation-failed", "parse-failed", "data-exception",
    "bad-request", "MalformedHttpRequestException", "GraphQLValidationException",
  ]

  /// `offset` of `Variable "$offset" got invalid value null`, however it is quoted.
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
