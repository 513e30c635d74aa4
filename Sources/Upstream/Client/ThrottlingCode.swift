/// Codes of errors by which a server says that it has too much to do: it did nothing, and the same
/// request may go through later.
package enum ThrottlingCode {
  private static let codes: Set<String> = [
    // Hasura.
    "postgres-max-connections-error", "busy", "rate-limit-exceeded", "tenant-limit-exceeded",
    // AppSync, and what its resolvers pass on of DynamoDB and Lambda.
    "ThrottlingException", "ThrottledException", "LimitExceededError", "LimitExceededException",
    "TooManyRequestsException", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
    // Servers of no particular kind.
    "RATE_LIMITED", "THROTTLED", "TOO_MANY_REQUESTS",
  ]

  /// - Parameter code: may be qualified, as AppSync's are (`DynamoDB:ThrottlingException`,
  ///   `com.amazonaws…#ThrottlingException`).
  package static func contains(_ code: String) -> Bool {
    code.split { $0 == "#" || $0 == ":" }.last.map { codes.contains(String($0)) } ?? false
  }
}
