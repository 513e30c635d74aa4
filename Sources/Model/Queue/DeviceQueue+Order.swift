/// What waits for what. One rule for everything: of two that meet, the one that may have reached
/// upstream goes first, else the one that came first.
extension DeviceQueue {
  /// Whether something held must be finished before the item may go.
  func isBlocked(_ item: Mutation, at now: Timestamp) -> Bool {
    var isBlocked = false
    forEachBlocker(of: item, at: now) { _ in
      isBlocked = true
      return false
    }
    return isBlocked
  }

  /// The armed forced items and, transitively, all that must go before them.
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

  /// The lazy items that go no more because this forced one goes: never sent, of its operation and
  /// object, and nothing between the two meets them.
  ///
  /// They are superseded once the forced one has reached upstream, and only held until then: if it
  /// expires instead, they go as if it had never come.
  func absorbed(by forced: Mutation) -> Set<Int64> {
    guard forced.mode == .force, let object = forced.object else { return [] }
    var absorbed: Set<Int64> = []
    for place in line.places(touching: Footprint.Token(object)).before(forced.place).reversed() {
      guard let item = line[place] else { continue }
      guard item.isReplaceable(by: forced), isCreatingNothingLost(item, in: forced),
        !isMet(item, before: forced.place, except: absorbed)
      else { break }
      absorbed.insert(place)
    }
    return absorbed
  }

  /// Whether a forced item that is about to go, or is going, takes this one's stead.
  func isHeldForForced(_ item: Mutation, at now: Timestamp) -> Bool {
    guard item.mode == .lazy, !item.isFrozen else { return false }
    return line.forced.from(item.place).contains { place in
      guard let forced = line[place], forced.operation == item.operation,
        forced.state == .inflight || forced.isArmed(at: now)
      else { return false }
      return absorbed(by: forced).contains(item.place)
    }
  }

  /// Whether anything after the item meets its footprint or another one (its successor's).
  func isMet(
    _ item: Mutation, by footprint: Footprint? = nil, before end: Int64 = .max,
    except: Set<Int64> = []
  ) -> Bool {
    (footprint ?? item.footprint).tokens.contains { token in
      line.places(touching: token).from(item.place + 1).contains { place in
        place < end && !except.contains(place)
      }
    }
  }

  /// Whether nobody would miss the temporary ids the item creates if the other went instead.
  func isCreatingNothingLost(_ item: Mutation, in other: Mutation) -> Bool {
    item.footprint.creates.allSatisfy { created in
      other.footprint.isCreating(created.id)
        || line.places(touching: .temporary(created.id)).count == 1
    }
  }

  /// Calls with each item that must be finished before this one may go, until told to stop by
  /// `false`.
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
    if item.mode == .steady {
      _ = visitBlockers(of: item, among: line.steady, absorbed: [], token: nil, visit)
    }
  }

  /// False where the visitor had enough.
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

  /// Whether the other touches the token (nil: stands in the steady order) in a way that counts.
  private func isBlocking(_ other: Mutation, _ item: Mutation, token: Footprint.Token?) -> Bool {
    guard let token else {
      return other.mode == .steady && (other.state == .queued || other.state == .inflight)
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
  /// Whether the other may go in its stead: lazy, never sent, of the same operation and object.
  func isReplaceable(by other: Mutation) -> Bool {
    mode == .lazy && state == .queued && !isFrozen && operation == other.operation
      && object != nil && object == other.object
  }

  /// The same with the temporary ids that became known resolved.
  func resolving(_ known: [TemporaryID: EntityKey]) -> Mutation {
    guard !known.isEmpty else { return self }
    var resolved = self
    resolved.footprint = footprint.resolving(known)
    if let object, let id = TemporaryID(object.key), let entity = known[id] {
      resolved.object = entity
    }
    return resolved
  }
}
