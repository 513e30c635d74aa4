/// Renders the server's own problems. Replaceable, so that they look like the application's.
package protocol ProblemRenderer: Sendable {
  /// The body, `application/problem+json`.
  ///
  /// - Parameter path: of the request, percent-encoded; nil where its head could not be read.
  func render(_ problem: ServerProblem, path: String?, requestID: String) -> [UInt8]
}
