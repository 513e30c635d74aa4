/// Renders the server's own problems. Replaceable, so that they look like the application's.
package protocol ProblemRenderer: Sendable {
  /// The body, `application/problem+json`.
  func render(_ problem: ServerProblem, requestID: String) -> [UInt8]
}
