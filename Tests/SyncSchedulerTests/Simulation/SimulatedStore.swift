import Model
import SyncScheduler

/// The model of durable storage: rows, payloads and the events of clients, changed only by transactions.
/// A failpoint before or after each commit ends the process.
struct SimulatedStore {
  /// The process ends here.
  struct Crash: Error {}

  /// The request of one device with one key.
  struct Key: Hashable {
    let device: String
    let key: String
  }

  private(set) var rows: [MutationID: Mutation] = [:]
  private(set) var payloads: [MutationID: SimulatedPayload] = [:]
  private(set) var byKey: [Key: MutationID] = [:]
  private(set) var controls: [String: QueueControl] = [:]
  private(set) var known: [String: [TemporaryID: EntityKey]] = [:]
  /// The visible optimistic updates.
  private(set) var overlays: Set<MutationID> = []
  /// The events that each device received for each mutation, latest last.
  private(set) var told: [MutationID: [MutationState]] = [:]
  private(set) var results: [MutationID: SimulatedUpstream.Answer] = [:]
  private(set) var lastSequence: Int64 = 0
  private(set) var commitCount = 0
  /// Violations of the store's own rules.
  private(set) var fault: String?

  func held(of device: String) -> [Mutation] {
    rows.values.filter { $0.device == device && DeviceQueue.isHeld($0) }
      .sorted { $0.place < $1.place }
  }

  /// One transaction.
  mutating func commit(
    _ changes: QueueChanges, of device: String, payload: SimulatedPayload? = nil,
    result: (MutationID, SimulatedUpstream.Answer)? = nil, dice: inout SimulationDice
  ) throws(Crash) {
    if dice.isCrash { throw Crash() }
    commitCount += 1
    for mutation in changes.inserted {
      lastSequence = max(lastSequence, mutation.sequence)
      let key = Key(device: device, key: mutation.key)
      if byKey[key] != nil { fault = "the key \(mutation.key) makes a second mutation" }
      byKey[key] = mutation.id
      payloads[mutation.id] = payload
    }
    for mutation in changes.updated where rows[mutation.id] == nil {
      fault = "\(mutation.id) is updated and not there"
    }
    for mutation in changes.inserted + changes.updated {
      if rows[mutation.id]?.state != mutation.state {
        told[mutation.id, default: []].append(mutation.state)
      }
      rows[mutation.id] = mutation
      if mutation.state.showsOverlay {
        overlays.insert(mutation.id)
      } else {
        overlays.remove(mutation.id)
      }
    }
    if let control = changes.control { controls[device] = control }
    known[device, default: [:]].merge(changes.resolved) { $1 }
    if let (id, answer) = result, rows[id]?.state == .applied { results[id] = answer }
    if dice.isCrash { throw Crash() }
  }
}
