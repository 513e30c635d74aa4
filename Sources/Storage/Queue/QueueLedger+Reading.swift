import Model

/// How much of a queue is read: its first items, which decide what goes next, and more of it where
/// these do not.
extension QueueLedger {
  /// - Parameter limit: of those that are read in the order of their places.
  func load(limit: Int) throws -> DeviceQueue {
    let control = try QueueRows(database: context.database).control(of: device)
    var held = try rows.held(of: device, limit: limit == .max ? .max : limit + 1)
    guard held.count > limit, let end = held.popLast()?.place else {
      return DeviceQueue(device: device, control: control, held: held)
    }
    let rest = try rows.rest(of: device, from: end, timing: timing)
    return DeviceQueue(
      device: device, control: control, held: held + rest.restless, tail: rest.tail)
  }

  /// Reads on until what is in memory decides as all of it would.
  func readEnough() throws {
    while decide({ $0.needsTail(at: timing.now, policy: timing.policy) }) {
      // Twice as many each time: where the first of a long queue all wait, it is soon all read.
      try readOn(limit: max(context.memory.queues.headLength, decide { $0.held.count }))
    }
  }

  func readAll() throws {
    try readOn(limit: .max)
  }

  private func readOn(limit: Int) throws {
    guard let tail = decide({ $0.tail }) else { return }
    var more = try rows.held(
      of: device, from: tail.start, limit: limit == .max ? .max : limit + 1)
    let end = more.count > limit ? more.popLast()?.place : nil
    context.memory.queues.extend(device, by: more, tail: end.map(tail.from))
  }
}
