package import LosslessJSON
package import Model

/// A command of a client or an operator to a queue.
package enum QueueCommand: Hashable, Sendable {
  case pause
  case resume
  /// Ends debounce and back-off.
  case flush
  case cancel(MutationID)
  case retry(MutationID)
  case discard(MutationID)
  case signOut(SignOutPolicy)
}

/// Why a command is refused; nothing changes.
package enum CommandRefusal: Error, Hashable, Sendable {
  /// The queue does not hold the mutation: it is finished, or never existed.
  case notHeld
  /// The mutation may have reached upstream and can no longer be cancelled.
  case alreadySent
  /// Only a parked mutation can be discarded, and only a waiting one can be retried.
  case wrongState(MutationState)
  /// The whole queue waits for a credential, which alone lets it continue.
  case needsCredential
}

/// The effect of a sign-out on the device's queued mutations; the raw value is the setting's.
package enum SignOutPolicy: String, Hashable, Sendable, CaseIterable {
  /// All are still sent.
  case drain
  /// Mutations that were never sent are discarded; those that may have reached upstream are parked.
  case drop
  /// All that wait are parked.
  case park
}

/// What stops the whole queue of a device, besides the waits of its mutations.
package struct QueueControl: Hashable, Sendable {
  /// Whether the client paused it.
  package var isPaused: Bool
  /// Whether an upstream refused a credential: nothing is sent to it before the device's next valid
  /// token.
  package var needsCredential: Bool
  /// Whether it waits because the stored credential cannot be decrypted with this process's key, not
  /// because upstream refused it: the next start, possibly with the right key, tries again.
  package var isUnreadable: Bool
  /// The upstreams that refused a credential; empty for all.
  package var refusing: Set<String>

  package init(
    isPaused: Bool = false, needsCredential: Bool = false, isUnreadable: Bool = false,
    refusing: Set<String> = []
  ) {
    self.refusing = refusing
    self.isPaused = isPaused
    self.needsCredential = needsCredential
    self.isUnreadable = isUnreadable
  }

  /// Whether mutations for an upstream wait for a credential.
  package func needsCredential(for upstream: String) -> Bool {
    needsCredential && upstream != Mutation.writeUpstream
      && (refusing.isEmpty || refusing.contains(upstream))
  }

  /// Notes that an upstream refused a credential.
  mutating func refuse(by upstream: String, isUnreadable: Bool) {
    // If all wait already, it is one of them.
    if !needsCredential || !refusing.isEmpty { refusing.insert(upstream) }
    needsCredential = true
    self.isUnreadable = isUnreadable
  }

  /// Notes that the device presented another credential.
  ///
  /// - Parameter upstream: the upstream that it is for; nil for all.
  mutating func renew(for upstream: String?) {
    if let upstream { refusing.remove(upstream) }
    guard upstream == nil || refusing.isEmpty else { return }
    refusing = []
    needsCredential = false
    isUnreadable = false
  }

  /// The state that clients see.
  package var state: QueueState {
    isPaused ? .paused : needsCredential ? .authRequired : .running
  }
}

/// The state of a queue, as clients see it.
package enum QueueState: String, Hashable, Sendable {
  case running
  case paused
  case authRequired = "auth_required"
}

/// The status of a queue, as its client sees it.
package struct QueueStatus: Hashable, Sendable {
  /// Mutations that are queued or in flight.
  package let pending: Int
  package let parked: Int
  package let state: QueueState

  package init(pending: Int, parked: Int, state: QueueState) {
    self.pending = pending
    self.parked = parked
    self.state = state
  }

  /// `{"pending","parked","state"}`.
  package var json: JSONValue {
    [
      "pending": .number(JSONNumber(pending)), "parked": .number(JSONNumber(parked)),
      "state": .string(state.rawValue),
    ]
  }
}
