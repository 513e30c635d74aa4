import GRDB
package import Model

/// Messages that upstream sends to webhooks. A confirmed one survives a power failure: its sender does
/// not send it again.
extension Store {
  /// Writes messages in order, all in one transaction. A message whose id is stored already changes
  /// nothing.
  ///
  /// - Parameters:
  ///   - deliveries: each with its own call, and the oldest one whose response can still arrive once
  ///     those before it are written.
  /// - Returns: a receipt for each message.
  package func receive(
    _ deliveries: [(delivery: HookDelivery, call: CallNumber, horizon: CallNumber)],
    now: Timestamp, retention: HookRetention = HookRetention()
  ) async throws(StorageError) -> [HookReceipt] {
    let catalogue = catalogue
    let commit = try await writer.write(.powerFailure, report: \HookCommit.report) {
      database, memory in
      var receipts: [HookReceipt] = []
      var reports: [CommitReport] = []
      var added: Int64 = 0
      for (index, (delivery, call, horizon)) in deliveries.enumerated() {
        let context = WriteContext(database, memory, catalogue, call: call, horizon: horizon)
        var writer = HookWriter(delivery, context)
        receipts.append(try writer.write())
        added += 1 + Int64(delivery.entities.count + delivery.changed.count)
        added += Int64(delivery.deletions.count + delivery.privateDeletions.count)
        reports.append(context.finish(prunes: index == deliveries.count - 1))
      }
      try HookTables(database: database).prune(retention, now: now, limit: 2 * added)
      return HookCommit(
        receipts: receipts,
        report: CommitReport(joining: reports, head: Revision(memory.counters.revision)))
    }
    return commit.receipts
  }

  /// The number of message ids that are kept, by webhook.
  package func hookEventCounts() async throws(StorageError) -> [String: Int] {
    try await longReader.read { database in
      let rows = try Row.fetchAll(
        database, sql: "SELECT hook, count(*) AS count FROM hook_event GROUP BY hook")
      return Dictionary(
        uniqueKeysWithValues: rows.map { ($0["hook"] as String, $0["count"] as Int) })
    }
  }
}

private struct HookCommit: Sendable {
  let receipts: [HookReceipt]
  let report: CommitReport?
}
