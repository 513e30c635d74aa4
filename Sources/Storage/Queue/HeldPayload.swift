package import Model

/// What of a held mutation tells whether it fits the operations in force.
package struct HeldPayload: Sendable {
  package let id: MutationID
  package let device: String
  package let operation: String
  package let step: MutationStep
  /// The query that its step asks, where it has one.
  package let verifier: String?
  /// The JSON object of variables as the client gave it.
  package let variables: String
  /// It waits already because its operation changed.
  package let isParked: Bool

  package init(
    id: MutationID, device: String, operation: String, step: MutationStep, verifier: String?,
    variables: String, isParked: Bool
  ) {
    self.id = id
    self.device = device
    self.operation = operation
    self.step = step
    self.verifier = verifier
    self.variables = variables
    self.isParked = isParked
  }

  static func selection(ofDevice: Bool) -> String {
    """
    SELECT id, device, operation, step, unknown_rule, variables, state FROM mutation \
    WHERE is_held \(ofDevice ? "AND device = ?1 " : "")AND (state IN ('queued', 'inflight') \
    OR state = 'parked' AND reason = '\(SettleReason.operationChanged.rawValue)')
    """
  }
}
