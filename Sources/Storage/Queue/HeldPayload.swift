package import Model

/// The parts of a held mutation that decide whether it fits the operations in force.
package struct HeldPayload: Sendable {
  package let id: MutationID
  package let device: String
  package let operation: String
  /// The upstream that ran the operation when the mutation was enqueued, or at the last start.
  package let upstream: String
  package let step: MutationStep
  /// The query that verifies its outcome; nil if its operation has none.
  package let verifier: String?
  /// The JSON object of variables as the client gave it.
  package let variables: String
  /// Whether it is already parked because its operation changed.
  package let isParked: Bool
  /// Whether it waits for something else than its turn or its operation: such a mutation is not
  /// checked, but follows its operation to another upstream.
  package let isIdle: Bool

  static func selection(ofDevice: Bool) -> String {
    """
    SELECT id, device, operation, step, unknown_rule, variables, state, \
    coalesce(reason, ''), upstream \
    FROM mutation WHERE is_held\(ofDevice ? " AND device = ?1" : "")
    """
  }

  /// - Parameters:
  ///   - state: the column as text.
  ///   - reason: the column as text.
  init(
    id: String, device: String, operation: String, upstream: String, step: String,
    unknownRule: String, variables: String, state: String, reason: String
  ) {
    self.id = MutationID(id)
    self.device = device
    self.operation = operation
    self.upstream = upstream
    self.step = MutationStep(rawValue: step) ?? .send
    verifier = UnknownOutcomeRule(text: unknownRule)?.verifier
    self.variables = variables
    isParked =
      state == MutationState.parked.rawValue
      && reason == SettleReason.operationChanged.rawValue
    isIdle =
      !isParked && state != MutationState.queued.rawValue
      && state != MutationState.inflight.rawValue
  }
}

/// The result of checking a device's held mutations against the operations in force: those that no
/// longer fit, each with the problem for its client, parked ones that fit again, and those whose
/// operation another upstream runs now.
package struct OperationReview: Sendable {
  package var misfits: [MutationID: [UInt8]]
  package var fitting: [MutationID]
  /// Mutations whose operation belongs to another upstream now, with its name.
  package var moved: [MutationID: String]
  /// The names of all upstreams; empty if they are unknown.
  package var upstreams: Set<String>

  package init(
    misfits: [MutationID: [UInt8]] = [:], fitting: [MutationID] = [],
    moved: [MutationID: String] = [:], upstreams: Set<String> = []
  ) {
    self.misfits = misfits
    self.fitting = fitting
    self.moved = moved
    self.upstreams = upstreams
  }

  /// Whether no mutation changes.
  package var isEmpty: Bool { misfits.isEmpty && fitting.isEmpty && moved.isEmpty }
}
