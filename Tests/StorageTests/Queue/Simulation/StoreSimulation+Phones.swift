import Model
import SyncScheduler
import TestSupport

@testable import Storage

/// The actions of phones.
extension StoreSimulation {
  mutating func act(_ index: Int) async throws {
    switch chance.number(0...99) {
    case 0..<58:
      let wishes = (0..<(chance.percent(20) ? chance.number(2...3) : 1)).map { _ in
        phones[index].makeWish(&chance)
      }
      try await enqueue(wishes, by: index)
    case 58..<68:
      guard let wish = chance.pick(phones[index].unanswered) else { return }
      try await enqueue([wish], by: index)
    case 68..<78: try await askAgain(index)
    case 78..<92: try await command(index)
    default: try await signIn(index)
    }
  }

  /// Leaves nothing open: resumes, enqueues again, decides on parked mutations, arms expired ones.
  mutating func tidyUp(_ index: Int) async throws {
    let device = phones[index].device
    try await give(.resume, to: index)
    try await signIn(index)
    for wish in phones[index].unanswered { try await enqueue([wish], by: index) }
    let left = try await store.store.mutations(
      of: device, states: [.parked, .expired], before: nil, limit: 1_000
    ).map(\.mutation)
    for mutation in left where mutation.state == .parked { try await decide(mutation, by: index) }
    for mutation in left where mutation.state == .expired {
      guard let wish = phones[index].acknowledged[mutation.id] else { continue }
      try await enqueue([wish], by: index)
    }
  }

  // MARK: Enqueuing

  private mutating func enqueue(
    _ wishes: [SimulatedPhone.Wish], by index: Int
  ) async throws {
    let (device, timing) = (phones[index].device, timing)
    let arrivals = wishes.map { $0.change.arrival(makeID(), key: $0.key) }
    note("\(device) \(arrivals.map(\.submission.id)) \(wishes.map(\.change))")
    let end = try await perform { try await $0.enqueue(arrivals, of: device, timing: timing) }
    // A response can be lost on its way too.
    let isDelivered = end.isDelivered && (chance.isCalm || chance.percent(85))
    switch end.result {
    case nil: return
    case .success(let commit):
      for (wish, (arrival, receipt)) in zip(wishes, zip(arrivals, commit.answer)) {
        let fault = expected[index].take(wish, receipt, offered: arrival.submission.id)
        if let fault { fail(fault) }
        if isDelivered { phones[index].acknowledge(wish, as: receipt.mutation.id) }
      }
    case .failure(.refused(let refusal, _)):
      note("refused: \(refusal)")
      for wish in wishes where expected[index].ids[wish.key] != nil {
        fail("1: \(wish.key) was taken, and is refused")
      }
      if isDelivered { phones[index].giveUp(wishes) }
    case .failure(let refusal): fail("1: \(wishes) \(refusal)")
    }
  }

  /// Repeats an acknowledged key: with its own payload or with another one, possibly after a new
  /// mutation in the same batch.
  private mutating func askAgain(_ index: Int) async throws {
    let all = phones[index].acknowledged.values.sorted { $0.key < $1.key }
    guard var wish = chance.pick(all) else { return }
    if chance.percent(50) { return try await enqueue([wish], by: index) }
    wish.change.value += 1_000
    let (device, timing) = (phones[index].device, timing)
    var arrivals = [wish.change.arrival(makeID(), key: wish.key)]
    if chance.percent(50) {
      let other = phones[index].makeWish(&chance)
      arrivals.insert(other.change.arrival(makeID(), key: other.key), at: 0)
    }
    note("\(device) asks for another thing under \(wish.key)")
    let end = try await perform { try await $0.enqueue(arrivals, of: device, timing: timing) }
    switch end.result {
    case nil: break
    case .failure(.refused(_, index: 0)) where arrivals.count == 2: break
    case .failure(.keyReused(let place)) where place == arrivals.count - 1: break
    case .some(let answer): fail("1: another payload passes under \(wish.key): \(answer)")
    }
  }

  // MARK: Commands

  private mutating func command(_ index: Int) async throws {
    let held = try await store.store.mutations(
      of: phones[index].device, states: [.queued, .inflight, .parked], before: nil, limit: 100
    ).map(\.mutation)
    switch chance.number(0...9) {
    case 0: try await give(.pause, to: index)
    case 1: try await give(.resume, to: index)
    case 2..<4: try await give(.flush, to: index)
    default:
      guard let mutation = chance.pick(held) else { return }
      try await decide(mutation, by: index)
    }
  }

  private mutating func decide(_ mutation: Mutation, by index: Int) async throws {
    let isParked = mutation.state == .parked
    if chance.percent(50) {
      let isDone = try await give(.retry(mutation.id), to: index)
      if isDone, isParked { doubled.insert(mutation.id) }
    } else if isParked {
      try await give(.discard(mutation.id), to: index)
    } else if !chance.isCalm {
      let isDone = try await give(.cancel(mutation.id), to: index)
      if isDone, mutation.isFrozen { fail("2: \(mutation.id) was sent, and is cancelled") }
    }
  }

  /// - Returns: whether the queue accepted the command.
  @discardableResult
  private mutating func give(_ command: QueueCommand, to index: Int) async throws -> Bool {
    let (device, timing) = (phones[index].device, timing)
    guard !hasDied else { return false }
    note("\(device) \(command)")
    let end = try await perform { try await $0.command(command, on: device, timing: timing) }
    if case .success? = end.result { return true }
    return false
  }

  private mutating func signIn(_ index: Int) async throws {
    let (device, timing) = (phones[index].device, timing)
    guard !hasDied else { return }
    _ = try await perform {
      try await $0.renewCredential(
        "newer", scope: .public, user: nil, of: device, timing: timing)
    }
  }
}
