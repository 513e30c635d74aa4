/// Executes operations on one upstream.
package final class UpstreamClient: Sendable {
  package let settings: UpstreamSettings

  init(settings: UpstreamSettings) {
    self.settings = settings
  }

  /// Sends one operation and reads the answer.
  package func execute(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall
  ) async throws(UpstreamFailure) -> UpstreamAnswer {
    preconditionFailure("being written")
  }

  /// Asks for the schema; the answer is introspection's, unread.
  package func introspect(call: UpstreamCall) async throws(UpstreamFailure) -> UpstreamAnswer {
    preconditionFailure("being written")
  }
}
