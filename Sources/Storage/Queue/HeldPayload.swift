package import Model

/// The parts of a held mutation that decide whether it fits the operations in force.
package struct HeldPayload: Sendable {
  package let id: MutationID
  package let device: String
  package let operation: String
  package let step: MutationStep
  /// The query that verifies its outcome; nil if its operation has none.
  package let verifier: String?
  /// The JSON object of variables as the client gave it.
  package let variables: String
  /// Whether it is already parked because its operation changed.
  package let isParked: Bool

  static func selection(ofDevice: Bool) -> String {
    """
    SELECT id, device, operation, step, unknown_rule, variables, state FROM mutation \
    WHERE is_held \(ofDevice ? "AND device = ?1 " : "")AND (state IN ('queued', 'inflight') \
    OR state = 'parked' AND reason = '\(SettleReason.operationChanged.rawValue)')
    """
  }
}

/// The result of checking a device's held mutations against the operations in force: those that no
/// longer fit, each with the problem for its client, and parked ones that fit again.
package struct OperationReview: Sendable {
  package var misfits: [MutationID: [UInt8]]
  package var fitting: [MutationID]

  package init(misfits: [MutationID: [UInt8]] = [:], fitting: [MutationID] = []) {
    self.misfits = misfits
    self.fitting = fitting
  }

  package var isEmpty: Bool { misfits.isEmpty && fitting.isEmpty }
}
