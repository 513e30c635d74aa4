/// Why a mutation was rejected, parked or expired; the raw value is stored and told to clients.
package enum SettleReason: String, Hashable, Sendable, CaseIterable {
  /// Upstream's answer says no, and would again.
  case refused
  /// What it depends on was rejected, cancelled or discarded.
  case dependency
  /// The answer of the create it depends on named no entity for the temporary id.
  case unresolved
  /// It failed again and again while upstream did others' work.
  case poison
  /// Not sent in the time its client gave it.
  case overdue
  /// Sent and not answered, and nothing tells whether it took effect.
  case outcomeUnknown = "outcome_unknown"
  /// Forced and not sent by its deadline.
  case notSent = "not_sent"
  /// Upstream wants the credential of a user: another than a forced one came with, or any at all.
  case authRequired = "auth_required"
  /// The operations in force have no such mutation any more, or its variables no longer fit it.
  case operationChanged = "operation_changed"
  /// Its user signed out.
  case signedOut = "signed_out"
}
