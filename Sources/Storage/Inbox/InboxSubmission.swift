package import Model
package import SyncScheduler

/// The mutations of one request, as the inbox of a cluster keeps them until the leader has moved them to their
/// device's queue.
package struct InboxSubmission: Sendable {
  /// The place in the order of all submissions, from 1.
  package let number: Int64
  package let device: String
  package let mutations: [NewMutation]
  /// How long it has been in the inbox.
  package let age: Duration

  package init(number: Int64, device: String, mutations: [NewMutation], age: Duration) {
    self.number = number
    self.device = device
    self.mutations = mutations
    self.age = age
  }

  /// The entities that it is expected to change.
  package var changedKeys: Set<EntityKey> {
    Set(mutations.flatMap(\.payload.overlays).map(\.key))
  }
}

/// The result of moving submissions to the queues.
package struct InboxDrain: Sendable {
  /// What each queue can send now, by device.
  package let schedules: [String: QueueSchedule]
  /// What stops the queues that wait for a credential, by device.
  package let refused: [String: QueueControl]
  let report: CommitReport
}
