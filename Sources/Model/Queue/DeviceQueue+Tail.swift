/// A long queue is decided about with its first items alone, as if all were there.
extension DeviceQueue {
  /// Whether what is held does not tell enough for ``outlook(at:policy:)``, ``claiming(_:boot:at:policy:)``
  /// and ``lapses(at:using:)``: then ``extend(by:tail:)`` first. Everything that clients ask for needs
  /// all of the queue.
  ///
  /// What comes before decides about what comes after, but for a forced one: that may wait for what
  /// lies unread before it. And where none of the first may go, others may.
  package func needsTail(at now: Timestamp, policy: QueuePolicy) -> Bool {
    guard let tail else { return false }
    return !line.forced.isEmpty || tail.firstExpiry <= now
      || looking(at: now, policy: policy).reachesTail
  }

  /// The same for ``settling(_:as:othersSucceeded:at:using:)``: those unread may mention what the
  /// mutation makes, or go in its stead where nothing was sent.
  package func needsTail(toSettle claim: MutationClaim, as outcome: SendOutcome) -> Bool {
    guard tail != nil, let item = self[claim.id] else { return false }
    if case .notSent = outcome, item.mode == .lazy, item.object != nil { return true }
    return !line.forced.isEmpty || !item.footprint.creates.isEmpty
  }

  /// The same for ``recovering(boot:at:policy:using:)``: what a forced one stands for lies before it.
  package var needsTailToRecover: Bool { tail != nil && !line.forced.isEmpty }

  /// Takes in what was read of the tail.
  ///
  /// - Parameters:
  ///   - held: by place, all from the tail's start to the start of what is left of it; those that are
  ///     here already stay as they are.
  ///   - rest: nil where nothing is left.
  package mutating func extend(by held: some Sequence<Mutation>, tail rest: QueueTail?) {
    for mutation in held where Self.isHeld(mutation) && self[mutation.id] == nil {
      line.insert(mutation)
    }
    tail = rest
  }
}
