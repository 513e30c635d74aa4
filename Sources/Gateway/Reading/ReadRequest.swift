package import Model
package import Upstream

/// One read of a query's result.
package struct ReadRequest: Sendable {
  package let operation: RegisteredOperation
  package let variables: Variables
  package let caller: Caller
  package let directives: ReadDirectives
  /// W3C trace context, passed upstream.
  package let traceparent: String?
  package let key: ResultKey

  package init(
    operation: RegisteredOperation,
    variables: Variables,
    caller: Caller,
    directives: ReadDirectives = .none,
    traceparent: String? = nil
  ) {
    self.operation = operation
    self.variables = variables
    self.caller = caller
    self.directives = directives
    self.traceparent = traceparent
    key = ResultKey(
      operation: operation.name, variables: variables.canonical,
      scope: caller.scope(of: operation))
  }

  package var policy: CachePolicy { operation.cache }

  package var scope: Scope { key.scope }
}

/// What a read gives: the bytes, and how they came about.
package struct ReadResponse: Sendable {
  package let rendered: RenderedResponse
  package let outcome: CacheOutcome
  package let age: Duration
  /// The caller's sight, for the cursor that goes with the answer.
  package let viewer: Viewer

  package init(
    rendered: RenderedResponse, outcome: CacheOutcome, age: Duration, viewer: Viewer
  ) {
    self.rendered = rendered
    self.outcome = outcome
    self.age = age
    self.viewer = viewer
  }
}
