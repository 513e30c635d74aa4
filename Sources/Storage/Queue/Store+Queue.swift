import GRDB
package import Model
package import SyncScheduler
import Synchronization

/// The sync queue: a decision and its changes are one transaction, and everything reported is on
/// disk.
extension Store {
  /// Enqueues mutations of one device, all or none. Returns once they would survive a power
  /// failure.
  package func enqueue(
    _ arrivals: [NewMutation], of device: String, timing: QueueTiming
  ) async throws(StorageError) -> Result<QueueCommit<[MutationReceipt]>, ArrivalRefusal> {
    try await refusable(.powerFailure, device, timing) { ledger in
      do {
        return .success(try ledger.enqueue(arrivals))
      } catch let refusal as ArrivalRefusal where refusal.isOfFirstMutation {
        return .failure(refusal)
      }
    }
  }

  /// Claims a mutation for sending. The claim survives the process; the claim of a mutation that
  /// must not be sent twice also survives a power failure.
  ///
  /// - Returns: nil in the commit if the mutation must not be sent any more.
  package func claim(
    _ ready: QueueSchedule.Ready, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<ClaimedMutation?> {
    try await queueCommand(ready.isRepeatable ? .process : .powerFailure, device, timing) {
      ledger in try ledger.claim(ready.id)
    }
  }

  /// Writes the end of an attempt: the mutation's outcome, the response, temporary ids, its overlay
  /// and its dependants.
  ///
  /// - Parameter goesOn: whether to claim the device's next mutation in the same commit, if it can
  ///   be sent to the same upstream at once and can be sent twice.
  package func settle(
    _ settlement: MutationSettlement, goesOn: Bool = false, of device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<SettledMutation> {
    try await queueCommand(
      .process, device, timing, call: settlement.response?.call,
      horizon: settlement.response?.horizon
    ) { ledger in
      var settled = try ledger.settle(settlement)
      if goesOn, let upstream = settled.mutation?.upstream {
        settled.next = try ledger.claimNext(for: upstream)
      }
      return settled
    }
  }

  /// Applies the changes that are due with the passing of time, and returns what the queue can
  /// send.
  package func look(
    at device: String, timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.process, device, timing) { ledger in
      try ledger.lapse()
      return true
    }
  }

  /// Does the same as ``look(at:timing:)``, for the first time after a start.
  ///
  /// - Parameter review: how held mutations fit the operations in force, see ``heldPayloads(of:)``.
  package func recover(
    _ device: String, review: OperationReview = OperationReview(), timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.process, device, timing) { ledger in
      try ledger.recover(review)
      return true
    }
  }

  /// Performs a client's or an operator's command on one mutation or the whole queue. On disk when
  /// it returns.
  package func command(
    _ command: QueueCommand, on device: String, timing: QueueTiming
  ) async throws(StorageError) -> Result<QueueCommit<Mutation?>, CommandRefusal> {
    try await refusable(.powerFailure, device, timing) { ledger in
      do {
        return .success(try ledger.perform(command))
      } catch let refusal as CommandRefusal {
        return .failure(refusal)
      }
    }
  }

  /// Replaces the credential of waiting mutations by a newer one of the same user, or of the same
  /// device if it is opaque.
  ///
  /// - Parameters:
  ///   - user: the verified one; nil for an opaque credential.
  ///   - upstream: the upstream that the credential is for; nil for all.
  package func renewCredential(
    _ sealed: String, scope: Scope, user: String?, of device: String, for upstream: String? = nil,
    timing: QueueTiming
  ) async throws(StorageError) -> QueueCommit<Bool> {
    try await queueCommand(.powerFailure, device, timing) { ledger in
      try ledger.renewCredential(sealed, scope: scope, user: user, for: upstream)
      return true
    }
  }

  // MARK: Reading

  package func queueStatus(of device: String) async throws(StorageError) -> QueueStatus {
    try await reader.read { try QueueRows(database: $0).status(of: device) }
  }

  /// Returns devices whose queue holds mutations or waits for a credential, with ids greater than
  /// `last`.
  package func queueDevices(
    after last: String, limit: Int
  ) async throws(StorageError) -> [String] {
    try await reader.read { try QueueRows(database: $0).devices(after: last, limit: limit) }
  }

  /// Returns the unfinished mutations of a device.
  package func heldPayloads(of device: String) async throws(StorageError) -> [HeldPayload] {
    try await reader.read { database in
      let statement = try PreparedStatement(database, HeldPayload.selection(ofDevice: true))
      statement.bind(device, at: 1)
      defer { statement.reset() }
      var held: [HeldPayload] = []
      while try statement.step() {
        held.append(
          HeldPayload(
            id: statement.string(0), device: device, operation: statement.string(2),
            upstream: statement.string(8), step: statement.string(3),
            unknownRule: statement.string(4), variables: statement.string(5),
            state: statement.string(6), reason: statement.string(7)))
      }
      return held
    }
  }

  /// Returns the load of all queues. Reads a row for each held mutation, so call it rarely.
  package func queueLoad() async throws(StorageError) -> QueueLoad {
    try await longReader.read { database in
      let statement = try PreparedStatement(
        database,
        """
        SELECT count(*) FILTER (WHERE state <> 'parked'), \
        count(*) FILTER (WHERE state = 'parked'), min(enqueued) FILTER (WHERE state <> 'parked') \
        FROM mutation WHERE is_held AND state IN ('queued', 'inflight', 'parked')
        """)
      defer { statement.reset() }
      guard try statement.step() else { return QueueLoad(pending: 0, parked: 0, oldest: nil) }
      return QueueLoad(
        pending: Int(statement.int64(0)), parked: Int(statement.int64(1)),
        oldest: statement.optionalInt64(2).map(Timestamp.init(milliseconds:)))
    }
  }

  /// Counts a device's parked mutations by reason.
  package func parkedReasons(of device: String) async throws(StorageError) -> [SettleReason: Int] {
    try await reader.read { try QueueRows(database: $0).parkedReasons(of: device) }
  }

  package func mutation(
    _ id: MutationID, of device: String
  ) async throws(StorageError) -> MutationRecord? {
    try await reader.read { database in
      try MutationRows(database: database).record(id, of: device)
    }
  }

  /// Returns mutations, newest first.
  package func mutations(
    of device: String, states: [MutationState]?, before: Int64?, limit: Int
  ) async throws(StorageError) -> [MutationRecord] {
    try await reader.read { database in
      try MutationRows(database: database)
        .records(of: device, states: states, before: before, limit: limit)
    }
  }

  /// Returns the real entities of a device's temporary ids; unknown ids are absent.
  package func resolve(
    _ ids: [TemporaryID], of device: String
  ) async throws(StorageError) -> [TemporaryID: EntityKey] {
    try await reader.read { try TemporaryIDRows(database: $0, device: device).find(ids) }
  }

  // MARK: Commands

  private func queueCommand<Output: Sendable>(
    _ durability: GroupedWriter.Durability, _ device: String, _ timing: QueueTiming,
    call: CallNumber? = nil, horizon: CallNumber? = nil, readsAll: Bool = false,
    _ body: @escaping @Sendable (QueueLedger) throws -> Output
  ) async throws(StorageError) -> QueueCommit<Output> {
    let catalogue = catalogue
    let perform: @Sendable (Database, WriterMemory) throws -> QueueCommit<Output> = {
      database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: call ?? CallNumber(memory.counters.call),
        horizon: horizon ?? CallNumber(memory.horizon))
      let ledger = try QueueLedger(
        context, device: device, timing: timing, readsAll: readsAll)
      let answer = try body(ledger)
      memory.lastSchedule += 1
      return QueueCommit(
        answer: answer, outlook: try ledger.outlook().numbered(memory.lastSchedule),
        control: ledger.control,
        report: context.finish())
    }
    return try await writer.write(durability, report: { $0.report }, perform)
  }

  /// Performs a command that the queue can refuse. A refusal before anything was written is an
  /// ordinary result. After a write it is thrown, so that the transaction is undone; the queues in
  /// memory are discarded with it and must be read again.
  private func refusable<Output: Sendable, Refusal: Error & Sendable>(
    _ durability: GroupedWriter.Durability, _ device: String, _ timing: QueueTiming,
    _ body: @escaping @Sendable (QueueLedger) throws -> Result<Output, Refusal>
  ) async throws(StorageError) -> Result<QueueCommit<Output>, Refusal> {
    let note = ThrownRefusal<Refusal>()
    do throws(StorageError) {
      let commit = try await queueCommand(durability, device, timing, readsAll: true) { ledger in
        do {
          return try body(ledger)
        } catch let error as Refusal {
          note.refusal.withLock { $0 = error }
          throw error
        }
      }
      return commit.answer.map {
        QueueCommit(
          answer: $0, outlook: commit.outlook, control: commit.control,
          report: commit.report)
      }
    } catch {
      guard let refusal = note.refusal.withLock({ $0 }) else { throw error }
      return .failure(refusal)
    }
  }
}
