import Model
import SyncScheduler

/// The model of the service: it carries out the decisions of the scheduler like production, and a crash
/// loses everything but the store.
struct SimulatedServer {
  let boot: String
  var clock: QueueClock
  let policy: QueuePolicy
  var queues: [String: DeviceQueue] = [:]
  var rotation = SendRotation(concurrencyMax: QueueSimulation.concurrencyMax)

  init(boot: String, clock: QueueClock, policy: QueuePolicy) {
    self.boot = boot
    self.clock = clock
    self.policy = policy
  }

  /// The queue from memory or the store.
  mutating func queue(of device: String, in store: SimulatedStore) -> DeviceQueue {
    if let queue = queues[device] { return queue }
    let queue = DeviceQueue(
      device: device, control: store.controls[device] ?? QueueControl(),
      held: store.held(of: device))
    queues[device] = queue
    return queue
  }

  /// Commits changes, applies them, and schedules the device again.
  mutating func commit(
    _ changes: QueueChanges, of device: String, payload: SimulatedPayload? = nil,
    result: (MutationID, SimulatedUpstream.Answer)? = nil, to store: inout SimulatedStore,
    dice: inout SimulationDice, reading: Duration
  ) throws(SimulatedStore.Crash) {
    if !changes.isEmpty {
      var queue = queue(of: device, in: store)
      try store.commit(changes, of: device, payload: payload, result: result, dice: &dice)
      queue.apply(changes)
      queues[device] = queue
    }
    note(device, in: store, reading: reading)
  }

  mutating func note(_ device: String, in store: SimulatedStore, reading: Duration) {
    let outlook = queue(of: device, in: store)
      .schedule(at: clock.now(reading: reading), policy: policy)
    rotation.note(outlook, of: device)
  }
}
