/// What came for an object while an attempt failed that sent nothing: that attempt counts as never
/// made, so the two gather as if the later had come now.
extension DeviceQueue {
  /// - Parameter item: as its attempt leaves it: queued again.
  func gathering(into item: Mutation) -> QueueChanges {
    let changes = QueueChanges(updated: [item])
    guard item.mode == .lazy, item.state == .queued, !item.isFrozen, let object = item.object
    else { return changes }
    let later = line.places(touching: Footprint.Token(object)).from(item.place + 1)
      .compactMap { line[$0] }
      .filter { $0.mode == .lazy && $0.object == object && $0.state == .queued && !$0.isFrozen }
    guard let next = later.first else { return changes }
    if next.effect == .delete, isAnnihilated(item, by: next) {
      return QueueChanges(updated: [item, next].map(Self.annihilated))
    }
    guard item.isReplaceable(by: next),
      !isMet(item, by: next.footprint, before: next.place), isCreatingNothingLost(item, in: next)
    else { return changes }
    return QueueChanges(updated: replacing(item, with: next))
  }

  /// The later one goes, in the place and not before the time of the earlier.
  private func replacing(_ item: Mutation, with next: Mutation) -> [Mutation] {
    var superseded = item
    superseded.state = .superseded
    superseded.supersededBy = next.id
    var successor = next
    successor.place = item.place
    successor.gatheredSince = item.gatheredSince
    if item.due.reason == .backOff, item.due.time > next.due.time { successor.due = item.due }
    return [superseded, successor]
  }

  /// Nobody but the two touches what the one would create.
  private func isAnnihilated(_ create: Mutation, by deletion: Mutation) -> Bool {
    guard create.effect == .create, let object = create.object else { return false }
    let made = create.footprint.creates.map { Footprint.Token.temporary($0.id) }
    return (made + [Footprint.Token(object)]).allSatisfy { token in
      line.places(touching: token).values.allSatisfy {
        $0 == create.place || $0 == deletion.place
      }
    }
  }

  private static func annihilated(_ item: Mutation) -> Mutation {
    var item = item
    item.state = .annihilated
    return item
  }
}
