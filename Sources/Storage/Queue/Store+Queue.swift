import GRDB
package import Model
import Synchronization

/// The sync queue: a decision and what it changes are one transaction, and what was told of it is
/// on disk.
extension Store {
  /// Takes mutations of one device, all or none. Returns once they would survive a power failure.
  package func enqueue(
    _ arrivals: [MutationArrival], of device: String, timing: QueueTiming
  ) async throws(StorageError) -> Result<QueueCommit<[MutationReceipt]>, ArrivalRefusal> {
    try await refusable(.powerFailure, device, timing) { ledger in
      try ledger.enqueue(arrivals)
    }
  }

  /// Takes one for sending. The claim survives the process; before what must not be sent twice
  /// goes, ``makeDurable()`` has it survive a power failure too.
  ///
  /// - Returns: nil in the answer where it may not go any more.
  package func claim(
    _ id: MutationID, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<ClaimedMutation?> {
    try await queueCommand(.process, device, timing) { ledger in try ledger.claim(id) }
  }

  /// Everything committed so far survives a power failure when this returns.
  package func makeDurable() async throws(StorageError) {
    try await writer.write(.powerFailure) { database, _ in
      try PreparedStatement(database, "UPDATE counter SET probes = probes + 1 WHERE id = 1").run()
    }
  }

  /// Writes what an attempt came to: the mutation's end, what the answer said, temporary ids, its
  /// overlay and what depends on it.
  package func settle(
    _ settlement: MutationSettlement, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Mutation?> {
    try await queueCommand(
      .process, device, timing, call: settlement.answer?.call,
      horizon: settlement.answer?.horizon
    ) { ledger in try ledger.settle(settlement) }
  }

  /// Does what the passing of time asks for, and tells what the queue could send.
  package func look(
    at device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.process, device, timing) { ledger in
      try ledger.lapse()
      return true
    }
  }

  /// As ``look(at:timing:)``, for the first time after a start.
  package func recover(
    _ device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.process, device, timing) { ledger in
      try ledger.recover()
      return true
    }
  }

  /// A client's or an operator's word about one mutation or the whole queue. On disk when it
  /// returns.
  package func command(
    _ command: QueueCommand, on device: String, timing: QueueTiming
  ) async throws(StorageError) -> Result<QueueCommit<Mutation?>, CommandRefusal> {
    try await refusable(.powerFailure, device, timing) { ledger in try ledger.perform(command) }
  }

  /// A newer credential of the same user, or of the same device where it is opaque, for what waits.
  ///
  /// - Parameter user: the verified one; nil for an opaque credential.
  package func renewCredential(
    _ sealed: String, scope: Scope, user: String?, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.powerFailure, device, timing) { ledger in
      try ledger.renewCredential(sealed, scope: scope, user: user)
      return true
    }
  }

  // MARK: Reading

  package func queueStatus(of device: String) async throws(StorageError) -> QueueStatus {
    try await reader.read { try QueueRows(database: $0).status(of: device) }
  }

  /// Devices whose queue holds something, those behind `last`.
  package func queueDevices(
    after last: String, limit: Int
  ) async throws(StorageError) -> [String] {
    try await reader.read { try QueueRows(database: $0).devices(after: last, limit: limit) }
  }

  package func mutation(
    _ id: MutationID, of device: String
  ) async throws(StorageError) -> MutationRecord? {
    try await reader.read { database in
      try MutationReader(database: database).record(id, of: device)
    }
  }

  /// The newest first.
  package func mutations(
    of device: String, states: [MutationState]?, before: Int64?, limit: Int
  ) async throws(StorageError) -> [MutationRecord] {
    try await reader.read { database in
      try MutationReader(database: database)
        .records(of: device, states: states, before: before, limit: limit)
    }
  }

  /// What temporary ids of a device stand for; unknown ones are absent.
  package func resolve(
    _ ids: [TemporaryID], of device: String
  ) async throws(StorageError) -> [TemporaryID: EntityKey] {
    try await reader.read { try TemporaryIDRows(database: $0, device: device).find(ids) }
  }

  // MARK: Commands

  private func queueCommand<Answer: Sendable>(
    _ durability: GroupedWriter.Durability, _ device: String, _ timing: QueueTiming,
    call: CallNumber? = nil, horizon: CallNumber? = nil,
    _ body: @escaping @Sendable (QueueLedger) throws -> Answer
  ) async throws(StorageError) -> QueueCommit<Answer> {
    let catalogue = catalogue
    let perform: @Sendable (Database, WriterMemory) throws -> QueueCommit<Answer> = {
      database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: call ?? CallNumber(memory.counters.call),
        horizon: horizon ?? CallNumber(memory.horizon))
      let ledger = try QueueLedger(context, device: device, timing: timing)
      let answer = try body(ledger)
      return QueueCommit(answer: answer, outlook: ledger.outlook, report: context.finish())
    }
    return try await writer.write(durability, report: { $0.report }, perform)
  }

  /// What the queue refuses is thrown inside, so that what was written already is undone.
  private func refusable<Answer: Sendable, Refusal: Error & Sendable>(
    _ durability: GroupedWriter.Durability, _ device: String, _ timing: QueueTiming,
    _ body: @escaping @Sendable (QueueLedger) throws -> Answer
  ) async throws(StorageError) -> Result<QueueCommit<Answer>, Refusal> {
    let note = ThrownRefusal<Refusal>()
    do throws(StorageError) {
      return .success(
        try await queueCommand(durability, device, timing) { ledger in
          do {
            return try body(ledger)
          } catch let error as Refusal {
            note.refusal.withLock { $0 = error }
            throw error
          }
        })
    } catch {
      guard let refusal = note.refusal.withLock({ $0 }) else { throw error }
      return .failure(refusal)
    }
  }
}
