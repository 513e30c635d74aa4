import Model

/// The order of sending. One rule decides: of two conflicting mutations, the one that may have reached
/// upstream is sent first, else the earlier one.
extension DeviceQueue {
  /// Returns whether another held mutation must be finished before this one can be sent.
  func isBlocked(_ item: Mutation, at now: Timestamp) -> Bool {
    var isBlocked = false
    forEachBlocker(of: item, at: now) { _ in
      isBlocked = true
      return false
    }
    return isBlocked
  }

  /// Returns the places of armed forced mutations and, transitively, of all that must precede them.
  func promoted(at now: Timestamp) -> Set<Int64> {
    var promoted: Set<Int64> = []
    var todo = line.forced.values.filter { line[$0]?.isArmed(at: now) == true }
    while let place = todo.popLast() {
      guard promoted.insert(place).inserted, let item = line[place] else { continue }
      forEachBlocker(of: item, at: now) { blocker in
        todo.append(blocker.place)
        return true
      }
    }
    return promoted
  }

  /// Returns the places of lazy mutations that this forced one supersedes: never sent, of the same
  /// operation and object, and without a conflicting one in between.
  ///
  /// They are superseded once the forced one has reached upstream, and only held until then: if it
  /// expires instead, they are sent as if it had never come.
  func absorbed(by forced: Mutation) -> Set<Int64> {
    guard forced.mode == .force, let object = forced.object else { return [] }
    var absorbed: Set<Int64> = []
    for place in line.places(touching: Footprint.Token(object)).before(forced.place).reversed() {
      guard let item = line[place] else { continue }
      guard item.isReplaceable(by: forced), losesNoTemporaryIDs(item, in: forced),
        !hasLaterConflict(item, before: forced.place, except: absorbed)
      else { break }
      absorbed.insert(place)
    }
    return absorbed
  }

  /// Returns whether a forced mutation that is armed or in flight supersedes this one.
  func isHeldForForced(_ item: Mutation, at now: Timestamp) -> Bool {
    guard item.mode == .lazy, !item.isFrozen else { return false }
    return line.forced.from(item.place).contains { place in
      guard let forced = line[place], forced.operation == item.operation,
        forced.state == .inflight || forced.isArmed(at: now)
      else { return false }
      return absorbed(by: forced).contains(item.place)
    }
  }

  /// Returns whether a later mutation conflicts with its footprint, or with that of its successor.
  func hasLaterConflict(
    _ item: Mutation, by footprint: Footprint? = nil, before end: Int64 = .max,
    except: Set<Int64> = []
  ) -> Bool {
    (footprint ?? item.footprint).tokens.contains { token in
      line.places(touching: token).from(item.place + 1).contains { place in
        place < end && !except.contains(place)
      }
    }
  }

  /// Returns whether the other can be sent instead without losing a temporary id that is still needed.
  func losesNoTemporaryIDs(_ item: Mutation, in other: Mutation) -> Bool {
    item.footprint.creates.allSatisfy { created in
      other.footprint.isCreating(created.id)
        || line.places(touching: .temporary(created.id)).count == 1
    }
  }

  /// Visits each mutation that must be finished before this one can be sent, until `visit` returns
  /// false.
  private func forEachBlocker(
    of item: Mutation, at now: Timestamp, _ visit: (Mutation) -> Bool
  ) {
    let absorbed = isGoingAhead(item, at: now) ? absorbed(by: item) : []
    let tokens =
      item.overtakesAll
      ? item.footprint.needs.map(Footprint.Token.temporary) : item.footprint.tokens
    for token in tokens {
      let touching = line.places(touching: token)
      guard visitBlockers(of: item, among: touching, absorbed: absorbed, token: token, visit)
      else { return }
    }
    if item.mode != .force, !line.localWrites.isEmpty {
      guard visitBlockers(of: item, among: line.localWrites, absorbed: [], token: nil, visit)
      else { return }
    }
    if item.mode == .steady {
      let steady = item.isLocalWrite ? line.allSteady : line.steady(of: item.upstream)
      _ = visitBlockers(of: item, among: steady, absorbed: [], token: nil, visit)
    }
  }

  /// - Returns: false if the visitor stopped.
  private func visitBlockers(
    of item: Mutation, among places: SortedValues<Int64>, absorbed: Set<Int64>,
    token: Footprint.Token?, _ visit: (Mutation) -> Bool
  ) -> Bool {
    let earlier = item.isFrozen ? line.frozen.before(item.place) : places.before(item.place)
    let later = item.isFrozen ? [] : line.frozen.from(item.place + 1)
    for place in earlier where !absorbed.contains(place) {
      guard let other = line[place], isBlocking(other, item, token: token) else { continue }
      if !visit(other) { return false }
    }
    for place in later {
      guard let other = line[place], isBlocking(other, item, token: token) else { continue }
      if !visit(other) { return false }
    }
    return true
  }

  /// Returns whether the other blocks this one by the token, or, if it is nil, by the steady order or
  /// as a list of local writes before it.
  private func isBlocking(_ other: Mutation, _ item: Mutation, token: Footprint.Token?) -> Bool {
    guard let token else {
      guard other.state == .queued || other.state == .inflight else { return false }
      if other.isLocalWrite, other.place < item.place { return true }
      return other.mode == .steady && item.mode == .steady
        && (other.upstream == item.upstream || item.isLocalWrite)
    }
    guard other.state == .expired else { return other.footprint.tokens.contains(token) }
    guard case .temporary(let id) = token else { return false }
    return other.footprint.isCreating(id) && !item.footprint.isCreating(id)
  }

  private func isGoingAhead(_ item: Mutation, at now: Timestamp) -> Bool {
    item.mode == .force && (item.state == .inflight || item.isArmed(at: now))
  }
}

extension Mutation {
  /// Returns whether the other can replace it: lazy, never sent, of the same operation and object.
  func isReplaceable(by other: Mutation) -> Bool {
    mode == .lazy && state == .queued && !isFrozen && operation == other.operation
      && object != nil && object == other.object
  }

  /// Returns the mutation with resolved temporary ids replaced.
  func resolving(_ known: [TemporaryID: EntityKey]) -> Mutation {
    var resolved = self
    resolved.submission = submission.resolving(known)
    return resolved
  }
}
