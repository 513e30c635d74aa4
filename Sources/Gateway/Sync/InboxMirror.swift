package import Model
package import Storage
import Synchronization

/// The submissions that this node knows and that its store does not have yet, so that their devices' reads show
/// them on this node.
///
/// While a node leads, that is nearly never any: a submission is acknowledged once this node has applied the
/// commit that enqueues it. Without a leader, the submissions of a device that reads are looked up in the inbox,
/// since it can have made them on any node.
package final class InboxMirror: Sendable {
  /// Whether a device's reads can show everything that it has submitted.
  package enum Coverage: Hashable, Sendable {
    case whole
    /// The inbox cannot be reached, and there is no leader that would have emptied it.
    case cutOff
  }

  /// How long a read waits for this node to apply what the log has.
  static let catchUpMax = Duration.seconds(2)

  private let inbox: any MutationInbox
  private let store: Store
  private let overlaid: OverlaidEntities
  private let environment: QueueEnvironment
  private let devices = Mutex<[String: [InboxSubmission]]>([:])
  private let isUsed = Atomic(false)

  package init(
    inbox: any MutationInbox, store: Store, overlaid: OverlaidEntities,
    environment: QueueEnvironment
  ) {
    self.inbox = inbox
    self.store = store
    self.overlaid = overlaid
    self.environment = environment
  }

  /// Whether a device can have submitted what the store does not have.
  var isNeeded: Bool { !inbox.hasLeader || isUsed.load(ordering: .acquiring) }

  /// Prepares this node for reads of a device.
  ///
  /// - Parameter number: the entry that the caller's cursor covers, which may be in the inbox.
  /// - Throws: `storageUnavailable` if it is unknown whether the reads would show that entry.
  package func prepare(
    _ device: String, covering number: Int64?
  ) async throws(Failure) -> Coverage {
    do throws(InboxOutage) {
      if inbox.hasLeader {
        // The leader moves entries in their order, so all up to this number have been applied here.
        let isApplied = if let number { try await drainedNumber() >= number } else { true }
        if isApplied {
          if !submissions(of: device).isEmpty { try await update(device, adding: []) }
          return .whole
        }
      }
      try await lookUp(device)
      return .whole
    } catch {
      guard number == nil else { throw Self.unavailable(error) }
      return .cutOff
    }
  }

  /// Waits until this node shows all that a device has submitted to any node up to now.
  ///
  /// - Throws: `storageUnavailable` if that is not known.
  func catchUp(_ device: String) async throws(Failure) {
    do throws(InboxOutage) {
      try await lookUp(device)
    } catch {
      throw Self.unavailable(error)
    }
  }

  private func lookUp(_ device: String) async throws(InboxOutage) {
    try await refresh(device)
    // What is not in the inbox any more is in the log by now.
    guard try await inbox.catchUp(within: Self.catchUpMax) else {
      throw .behind
    }
    try await update(device, adding: [])
  }

  /// Notes a submission that was acknowledged before the store has it.
  func note(_ submission: InboxSubmission) async throws(InboxOutage) {
    try await update(submission.device, adding: [submission])
  }

  /// Looks a device's submissions up in the inbox.
  ///
  /// - Returns: those that the store does not have yet.
  @discardableResult
  func refresh(_ device: String) async throws(InboxOutage) -> [InboxSubmission] {
    var found: [InboxSubmission] = []
    for row in try await inbox.entries(of: device) {
      guard let submission = InboxSubmission(row) else {
        throw InboxOutage(cause: "entry \(row.number) of the inbox cannot be decoded")
      }
      found.append(submission)
    }
    return try await update(device, adding: found)
  }

  /// The known submissions of a device, in order.
  func submissions(of device: String) -> [InboxSubmission] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    return devices.withLock { $0[device] } ?? []
  }

  private func drainedNumber() async throws(InboxOutage) -> Int64 {
    try await stored { () async throws(StorageError) in try await store.drainedNumber() }
  }

  /// Adds submissions and drops those that the store has.
  @discardableResult
  private func update(
    _ device: String, adding found: [InboxSubmission]
  ) async throws(InboxOutage) -> [InboxSubmission] {
    let known = submissions(of: device)
    let numbers = Set(known.map(\.number))
    let all = (known + found.filter { !numbers.contains($0.number) })
      .sorted { $0.number < $1.number }
    let left = try await stored { () async throws(StorageError) in
      try await store.undrained(all, of: device)
    }
    let drained = Set(all.map(\.number)).subtracting(left.map(\.number))
    let (changed, kept) = devices.withLock { devices in
      // Another read may have added some meanwhile.
      let before = devices[device] ?? []
      let had = Set(before.map(\.number))
      let after = (before + left.filter { !had.contains($0.number) })
        .filter { !drained.contains($0.number) }
        .sorted { $0.number < $1.number }
      guard before.map(\.number) != after.map(\.number) else {
        return (Set<EntityKey>?.none, after)
      }
      devices[device] = after.isEmpty ? nil : after
      isUsed.store(!devices.isEmpty, ordering: .releasing)
      let keys = after.reduce(into: Set()) { $0.formUnion($1.changedKeys) }
      store.setProvisional(after, of: device, timing: environment.timing)
      overlaid.setProvisional(keys, of: device)
      return (before.reduce(into: keys) { $0.formUnion($1.changedKeys) }, after)
    }
    if let changed { store.reportProvisional(changed, of: device) }
    return kept
  }

  private func stored<Value>(
    _ body: () async throws(StorageError) -> Value
  ) async throws(InboxOutage) -> Value {
    do throws(StorageError) {
      return try await body()
    } catch {
      throw InboxOutage(cause: "\(error)")
    }
  }

  static func unavailable(_ outage: InboxOutage) -> Failure {
    if outage.isOfDelay {
      return Failure(
        .nodeBehind,
        "This node has not applied yet what the cluster's log has; retry later, or at another node.",
        retry: .after, retryAfter: .seconds(1), cause: outage.cause)
    }
    return Failure(
      .storageUnavailable,
      "This node cannot reach the cluster's database, so it does not know what the device has "
        + "submitted; retry later.", retry: .after, retryAfter: .seconds(1), cause: outage.cause,
      remedy: InboxOutage.remedy)
  }
}

/// The inbox of the cluster that a node belongs to, and what the node knows of it.
package struct ClusterInbox: Sendable {
  package let inbox: any MutationInbox
  package let mirror: InboxMirror

  /// - Parameters:
  ///   - overlaid: that of the node's reads.
  ///   - environment: that of the node's queues.
  package init(
    _ inbox: any MutationInbox, store: Store, overlaid: OverlaidEntities,
    environment: QueueEnvironment
  ) {
    self.inbox = inbox
    mirror = InboxMirror(
      inbox: inbox, store: store, overlaid: overlaid, environment: environment)
  }
}

extension InboxSubmission {
  /// Nil for a body that this version cannot decode.
  init?(_ row: InboxRow) {
    guard let mutations = try? MutationCodec.decode(row.body) else { return nil }
    self.init(number: row.number, device: row.device, mutations: mutations, age: row.age)
  }
}
