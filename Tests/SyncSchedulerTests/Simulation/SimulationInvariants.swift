import Model
import SyncScheduler

/// The guarantees of the queue, by their numbers in its design note, as invariants between any two steps
/// of a run.
enum SimulationInvariants {
  static func fault(in world: QueueSimulation) -> String? {
    acknowledged(world) ?? frozen(world) ?? settledWhole(world) ?? visible(world) ?? reported(world)
      ?? awake(world)
  }

  /// 1 and 8: acknowledged mutations exist, regardless of crashes.
  private static func acknowledged(_ world: QueueSimulation) -> String? {
    for phone in world.phones {
      for (id, wish) in phone.acknowledged {
        if world.cluster?.holds(id) == true { continue }
        guard let row = world.store.rows[id], row.key == wish.key,
          world.store.payloads[id] == wish.payload
        else { return "1: \(id) was acknowledged and is not there" }
      }
    }
    return nil
  }

  /// 2: the payload that upstream received is always the same, and the mutation was not replaced.
  private static func frozen(_ world: QueueSimulation) -> String? {
    for (id, bodies) in world.upstream.received {
      if Set(bodies).count != 1 { return "2: \(id) reached upstream with two payloads" }
      guard let row = world.store.rows[id] else { return "2: \(id) was sent and is not there" }
      switch row.state {
      case .superseded, .annihilated, .cancelled: return "2: \(id) was sent and is \(row.state)"
      case .queued, .parked:
        if !row.everSent { return "2: \(id) was sent and counts as never sent" }
      default: break
      }
    }
    return nil
  }

  /// 4: a result, its temporary ids and its dependents change together.
  private static func settledWhole(_ world: QueueSimulation) -> String? {
    for row in world.store.rows.values {
      let known = world.store.known[row.device] ?? [:]
      if row.state == .applied {
        guard let result = world.store.results[row.id] else { return "4: \(row.id) has no result" }
        guard case .done(let film) = result else { return "4: \(row.id) was refused" }
        for created in row.footprint.creates where known[created.id]?.key != film {
          return "4: \(created.id) is not \(film)"
        }
      }
      if !row.state.isFinished, row.footprint.needs.contains(where: { known[$0] != nil }) {
        return "4: \(row.id) waits for a temporary id that is known"
      }
    }
    return nil
  }

  /// 5: an acknowledged mutation is visible until its outcome, by itself or in its successor.
  private static func visible(_ world: QueueSimulation) -> String? {
    for phone in world.phones {
      for id in phone.acknowledged.keys {
        guard var row = world.store.rows[id] else { continue }
        while row.state == .superseded {
          guard let next = row.supersededBy.flatMap({ world.store.rows[$0] }) else {
            return "5: \(row.id) is superseded by nothing"
          }
          row = next
        }
        if !row.state.isFinished, !world.store.overlays.contains(row.id) {
          return "5: \(row.id) does not show"
        }
      }
    }
    return nil
  }

  /// 6: the device learns of each end, with the reason unless it requested it.
  private static func reported(_ world: QueueSimulation) -> String? {
    for row in world.store.rows.values {
      if world.store.told[row.id]?.last != row.state { return "6: \(row.id) ends silently" }
      if [.rejected, .parked, .expired].contains(row.state), row.reason == nil {
        return "6: \(row.id) is \(row.state) for no reason"
      }
    }
    return nil
  }

  /// 7: ready mutations were sent, and waiting ones wake without a request, and soon unless only the device
  /// can act.
  private static func awake(_ world: QueueSimulation) -> String? {
    let wait = world.server.rotation.wake.map { world.now.elapsed(until: $0) }
    let flying = world.flights.filter { $0.claim.boot == world.server.boot }
    // Every place at upstream is taken: who waits is woken by whichever comes back.
    if flying.count >= QueueSimulation.concurrencyMax { return nil }
    for (device, queue) in world.server.queues {
      let isUnderWay = flying.contains { $0.device == device }
      guard !queue.control.isPaused, !queue.control.needsCredential, !isUnderWay else { continue }
      for item in queue.held where !item.state.isFinished && item.state != .parked {
        let longest =
          OrderRule.isExcused(item, among: queue.held)
          ? world.server.policy.expiry : QueuePolicy.retryAfterMax
        guard let wait, wait <= longest else {
          let held = queue.held.map { "\($0.id) \($0.state) \($0.due.reason)" }
          return "7: nothing wakes \(item.id) in time, but \(wait ?? .zero); held: \(held)"
        }
      }
    }
    return nil
  }

  /// 8: mutations with idempotency keys took effect once, others once unless repetition was requested.
  static func faultAtEnd(of world: QueueSimulation) -> String? {
    for row in world.store.rows.values {
      let effects = world.upstream.effects[row.id] ?? 0
      let mayDouble = row.unknownRule == .sendAgain || world.doubled.contains(row.id)
      if effects > 1, world.upstream.recognisesKeys || !mayDouble {
        return "8: \(row.id) took effect \(effects) times"
      }
      if row.state == .applied, effects == 0 { return "8: \(row.id) is applied and did nothing" }
      if row.state == .rejected, effects > 0, world.upstream.recognisesKeys {
        return "8: \(row.id) is rejected and took effect"
      }
    }
    return nil
  }
}
