package import Model

/// A subscription that settings keep open (`upstream.standing`).
package struct StandingRule: Hashable, Sendable {
  package var operation: String
  /// As in a query string, so that each text is read by the variable's type.
  package var variables: [VariableInput.Parameter]
  /// Nil to mark what the subscription covers as due after a gap.
  package var catchUp: CatchUpRule?

  package init(
    operation: String, variables: [VariableInput.Parameter] = [], catchUp: CatchUpRule? = nil
  ) {
    self.operation = operation
    self.variables = variables
    self.catchUp = catchUp
  }
}

/// The query that fetches what a standing subscription missed.
package struct CatchUpRule: Hashable, Sendable {
  package var operation: String
  /// The variable that the newest stored value of ``field`` is sent in.
  package var variable: String
  package var field: String

  package init(operation: String, variable: String, field: String) {
    self.operation = operation
    self.variable = variable
    self.field = field
  }
}

/// A query that is repeated, for an upstream that reports no changes (`upstream.poll`).
package struct PollRule: Hashable, Sendable {
  /// Where each poll continues.
  package struct Since: Hashable, Sendable {
    package var variable: String
    package var field: String

    package init(variable: String, field: String) {
      self.variable = variable
      self.field = field
    }
  }

  package var operation: String
  package var every: Duration
  package var variables: [VariableInput.Parameter]
  /// Nil for a query that fetches everything each time.
  package var since: Since?

  package init(
    operation: String, every: Duration, variables: [VariableInput.Parameter] = [],
    since: Since? = nil
  ) {
    self.operation = operation
    self.every = every
    self.variables = variables
    self.since = since
  }
}
