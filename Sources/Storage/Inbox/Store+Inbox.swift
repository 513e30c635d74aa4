import GRDB
package import Model
package import SyncScheduler

/// The inbox of a cluster: what its leader moves to the queues, and what every node knows of that.
extension Store {
  /// Moves submissions to the queues of their devices, in one transaction with the number of the last one.
  /// Returns once they would survive a power failure.
  ///
  /// Submissions that were moved before are recognised by their keys, so a leader that ended between this and
  /// the removal from the inbox loses nothing and doubles nothing.
  ///
  /// - Parameter submissions: in order of their numbers.
  package func drain(
    _ submissions: [InboxSubmission], timing: QueueTiming
  ) async throws(StorageError) -> InboxDrain {
    let catalogue = catalogue
    let move: @Sendable (Database, WriterMemory) throws -> InboxDrain = { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      for submission in submissions {
        try QueueLedger(
          context, device: submission.device, timing: timing.draining(after: submission.age),
          readsAll: true
        ).drain(submission, within: timing.policy)
      }
      if let last = submissions.last { try InboxMark.set(last.number, database) }
      var schedules: [String: QueueSchedule] = [:]
      var refused: [String: QueueControl] = [:]
      for device in Set(submissions.map(\.device)).sorted() {
        // Also if nothing changed: its client waits for the number.
        context.noteQueue(of: device)
        let ledger = try QueueLedger(context, device: device, timing: timing, readsAll: false)
        memory.lastSchedule += 1
        schedules[device] = try ledger.outlook().numbered(memory.lastSchedule)
        if ledger.control.needsCredential { refused[device] = ledger.control }
      }
      return InboxDrain(schedules: schedules, refused: refused, report: context.finish())
    }
    return try await writer.write(.powerFailure, report: { $0.report }, move)
  }

  /// Returns the number of the last submission that the leader has moved to a queue, as far as this node has
  /// applied the leader's commits; 0 before the first.
  package func drainedNumber() async throws(StorageError) -> Int64 {
    try await reader.read { try InboxMark.number($0) }
  }

  /// Returns those of a device's submissions that this store does not have yet.
  package func undrained(
    _ submissions: [InboxSubmission], of device: String
  ) async throws(StorageError) -> [InboxSubmission] {
    guard !submissions.isEmpty else { return [] }
    return try await reader.read { database in
      // A device that was removed is read by no caller any more.
      guard try DeviceTable(database: database).exists(device) else { return [] }
      let (number, rows) = (try InboxMark.number(database), MutationRows(database: database))
      return try submissions.filter { submission in
        if submission.number > number { return true }
        return try submission.mutations.contains {
          try rows.find(key: $0.submission.key, of: device) == nil
        }
      }
    }
  }

  /// Returns the mutations of keys that a device has used.
  package func mutations(
    keys: [String], of device: String
  ) async throws(StorageError) -> [String: KnownMutation] {
    try await reader.read { database in
      let rows = MutationRows(database: database)
      var known: [String: KnownMutation] = [:]
      for key in keys {
        guard let mutation = try rows.find(key: key, of: device),
          let record = try rows.record(mutation.id, of: device)
        else { continue }
        known[key] = KnownMutation(
          record: record, supersedes: try rows.superseded(by: mutation.id).last?.id,
          promoted: try rows.promoted(by: mutation))
      }
      return known
    }
  }

  /// Returns why a device may not submit mutations: it has too many unfinished ones, or would exceed its storage
  /// quota.
  ///
  /// - Parameter waiting: how many it has in the inbox.
  package func refusal(
    of arrivals: [NewMutation], by device: String, waiting: Int, policy: QueuePolicy
  ) async throws(StorageError) -> ArrivalRefusal? {
    try await reader.read { database in
      let status = try QueueRows(database: database).status(of: device)
      let free = policy.itemsMax - status.pending - status.parked - waiting
      if arrivals.count > free {
        return .refused(.queueFull(itemsMax: policy.itemsMax), index: max(0, free))
      }
      var added = 0
      for (index, arrival) in arrivals.enumerated() {
        added += arrival.payload.variables.utf8.count
        let excess = try OwnerUsage(database: database).excess(
          of: .ownData(ofDevice: device), adding: added, under: policy.quota)
        if let excess { return .overQuota(excess, index: index) }
      }
      return nil
    }
  }
}

/// A mutation that the store has, as the response to its submission describes it.
package struct KnownMutation: Sendable {
  package let record: MutationRecord
  /// The mutation that it replaced.
  package let supersedes: MutationID?
  /// Queued mutations before it that conflict with it, if it is forced, in send order.
  package let promoted: [MutationID]
}

extension MutationRows {
  /// Returns the queued mutations that a forced one waits for, including those that they wait for themselves.
  fileprivate func promoted(by mutation: Mutation) throws -> [MutationID] {
    guard mutation.mode == .force, !mutation.overtakesAll, !mutation.state.isFinished else {
      return []
    }
    return mutation.promoted(among: try held(of: mutation.device))
  }
}

extension Mutation {
  /// Returns the queued mutations that it must wait for as a forced one, including those that they wait for
  /// themselves, in send order.
  ///
  /// - Parameter held: the queue, in send order.
  func promoted(among held: [Mutation]) -> [MutationID] {
    var reached = [footprint]
    var found: [MutationID] = []
    for other in held.reversed() where other.place < place && other.state == .queued {
      guard reached.contains(where: { $0.conflicts(with: other.footprint) }) else { continue }
      reached.append(other.footprint)
      found.append(other.id)
    }
    return found.reversed()
  }
}
