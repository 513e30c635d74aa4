import GRDB
import Model

extension QueueLedger {
  /// - Returns: the mutation that the command was about.
  func perform(_ command: QueueCommand) throws -> Mutation? {
    try lapse()
    try decide { queue throws(CommandRefusal) in try queue.admit(command) }
    switch command {
    case .pause: try write(decide { $0.pausing() })
    case .resume: try write(decide { $0.resuming() })
    case .flush: try write(decide { $0.flushing(at: timing.now) })
    case .signOut(let policy): try write(decide { $0.signingOut(policy) })
    case .cancel(let id):
      return try write(id) { queue throws(CommandRefusal) in
        try queue.cancelling(id, at: timing.now)
      }
    case .retry(let id):
      return try write(id) { queue throws(CommandRefusal) in
        try queue.retrying(id, at: timing.now, policy: timing.policy)
      }
    case .discard(let id):
      return try write(id) { queue throws(CommandRefusal) in
        try queue.discarding(id, at: timing.now)
      }
    }
    return nil
  }

  private func write(
    _ id: MutationID, _ decision: (DeviceQueue) throws(CommandRefusal) -> QueueChanges
  ) throws -> Mutation? {
    let changes = try decide(decision)
    try write(changes)
    return changes.updated.first { $0.id == id } ?? decide { $0[id] }
  }

  /// For what goes in the same user's name, or in the name of nobody who was verified. Where all
  /// that waits is another's, the queue waits on.
  func renewCredential(_ sealed: String, scope: Scope, user: String?) throws {
    let number = try context.memory.scopeID(scope, context.database)
    let statement = try PreparedStatement(
      context.database,
      """
      UPDATE mutation SET user_credential = ?2, scope = ?3 \
      WHERE device = ?1 AND is_held AND user_credential IS NOT NULL AND owner IS ?4
      """)
    statement.bind(device, at: 1)
    statement.bind(sealed, at: 2)
    statement.bind(number, at: 3)
    statement.bind(user.map { Array($0.utf8) }, at: 4)
    try statement.run()
    let isRenewed = context.database.changesCount > 0
    guard try isRenewed || !holdsCredential() else { return }
    try write(decide { $0.authenticated() })
  }

  private func holdsCredential() throws -> Bool {
    let statement = try PreparedStatement(
      context.database,
      "SELECT 1 FROM mutation WHERE device = ?1 AND is_held AND user_credential IS NOT NULL LIMIT 1"
    )
    statement.bind(device, at: 1)
    defer { statement.reset() }
    return try statement.step()
  }
}
