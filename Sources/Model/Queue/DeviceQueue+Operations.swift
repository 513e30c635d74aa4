extension DeviceQueue {
  /// What the operations in force make of a queue that was filled under others: mutations that do
  /// not fit wait, parked, and block only what conflicts with them; those that fit again go on.
  ///
  /// - Parameters:
  ///   - misfits: queued mutations whose operation is gone or does not take their variables.
  ///   - fitting: mutations that fit; only those parked for that reason change.
  package func reviewing(
    misfits: some Sequence<MutationID>, fitting: some Sequence<MutationID>, at now: Timestamp,
    policy: QueuePolicy
  ) -> QueueChanges {
    var changes = QueueChanges()
    for id in misfits {
      guard var item = self[id], item.state == .queued else { continue }
      item.waitForOperation()
      changes.updated.append(item)
    }
    for id in fitting {
      guard var item = self[id], item.state == .parked, item.reason == .operationChanged else {
        continue
      }
      item.state = .queued
      item.reason = nil
      item.due = DueTime(now, .atOnce)
      // It did not wait of its own accord: it has its time anew, as where a client tries it again.
      item.expires = max(item.expires, now.advanced(by: policy.expiry))
      changes.updated.append(item)
    }
    return changes
  }
}

extension Mutation {
  /// A forced one that was never sent never goes by itself: its key arms it again.
  mutating func waitForOperation() {
    if mode == .force, !everSent {
      state = .expired
      reason = .operationChanged
    } else {
      park(.operationChanged)
    }
  }
}
