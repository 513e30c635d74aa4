import Cluster
import Gateway
import Model
import Transport

/// The inbox of the cluster's backend, as queues use it.
struct BackendInbox: MutationInbox {
  /// How often the position is looked at.
  private static let lookInterval = Duration.milliseconds(10)

  let node: ClusterNode

  var hasLeader: Bool { node.lease != nil || node.link.reachable != nil }

  func add(
    device: String, key: String, body: [UInt8]
  ) async throws(InboxOutage) -> InboxAddition {
    do throws(ClusterError) {
      let receipts = try await node.backend.submit([
        InboxEntry(device: device, key: key, body: body)
      ])
      guard let receipt = receipts.first else { throw .inDoubt("a submission has no receipt") }
      return InboxAddition(number: receipt.number, isNew: receipt.isNew)
    } catch {
      let isInDoubt = if case .inDoubt = error { true } else { false }
      throw InboxOutage(cause: "\(error)", isNothingStored: !isInDoubt)
    }
  }

  func entries(after number: Int64, limit: Int) async throws(InboxOutage) -> [InboxRow] {
    try await reached { backend throws(ClusterError) in
      rows(try await backend.inbox(after: number, limit: limit))
    }
  }

  func entries(of device: String) async throws(InboxOutage) -> [InboxRow] {
    try await reached { backend throws(ClusterError) in rows(try await backend.inbox(of: device)) }
  }

  func remove(_ numbers: [Int64]) async throws(InboxOutage) {
    try await reached { backend throws(ClusterError) in try await backend.removeInbox(numbers) }
  }

  func wait(after number: Int64, atMost limit: Duration) async {
    await node.backend.waitForInbox(after: number, atMost: limit)
  }

  func catchUp(within limit: Duration) async throws(InboxOutage) -> Bool {
    let head = try await reached { backend throws(ClusterError) in try await backend.head() }
    let deadline = ContinuousClock.now + limit
    // A leader that ends can have appended a row that it has not committed yet; no report tells of its commits.
    while node.position < head.position {
      // What another leader has appended reaches this node after it was opened again, which waits for this request.
      if node.hasLost || ContinuousClock.now >= deadline || Task.isCancelled { return false }
      _ = await node.link.wait(atMost: Self.lookInterval) { node.position >= head.position }
    }
    return true
  }

  private func rows(_ entries: [InboxEntry]) -> [InboxRow] {
    // The age says how long ago a device submitted, by a clock that need not be this node's.
    let now = SystemClock.wall.now()
    return entries.map { entry in
      InboxRow(
        number: entry.number, device: entry.device, key: entry.key, body: entry.body,
        age: max(.zero, entry.at.distance(to: now)))
    }
  }

  private func reached<Value>(
    _ body: (any ClusterBackend) async throws(ClusterError) -> Value
  ) async throws(InboxOutage) -> Value {
    do throws(ClusterError) {
      return try await body(node.backend)
    } catch {
      throw InboxOutage(cause: "\(error)")
    }
  }
}
