import Model
import SyncScheduler

/// The recently used queues, as the writer knows them without reading rows.
///
/// Guarded by the writer's serial queue, as all of ``WriterMemory``. A command that fails discards
/// all of it: the rows are authoritative.
struct QueueWorkingSet {
  /// Limit of all queues together; a device's queue is read again after others displaced it. Most
  /// mutations take about one kilobyte.
  private static let kilobytesMax = 20_000
  /// Mutations of a long queue read at a time: reading costs little compared with sending so many.
  private static let headMax = 64
  /// Reading fewer is hardly faster.
  private static let headMin = 16

  private var queues: [String: DeviceQueue] = [:]
  private var order: [String] = []
  private var kilobytes = 0
  /// The last sequence number assigned; nil before the first was needed.
  var lastSequence: Int64?

  /// How many of a device's mutations to read at first: fewer when more devices take turns, so that
  /// the heads of a thousand long queues are in memory together.
  var headLength: Int {
    min(max(Self.kilobytesMax / (2 * (queues.count + 1)), Self.headMin), Self.headMax)
  }

  func contains(_ device: String) -> Bool { queues[device] != nil }

  subscript(device: String) -> DeviceQueue? { queues[device] }

  mutating func keep(_ queue: DeviceQueue) {
    forget(queue.device)
    queues[queue.device] = queue
    order.append(queue.device)
    kilobytes += Self.size(queue)
    makeRoom(for: queue.device)
  }

  /// Applies changes in place, so that a queue of thousands is not copied.
  mutating func apply(_ changes: QueueChanges, to device: String) {
    note(device) { $0?.apply(changes) }
  }

  /// Adds mutations that were read from a device's tail.
  mutating func extend(_ device: String, by held: [Mutation], tail: QueueTail?) {
    note(device) { $0?.extend(by: held, tail: tail) }
    makeRoom(for: device)
  }

  mutating func forget(_ device: String) {
    guard let queue = queues.removeValue(forKey: device) else { return }
    kilobytes -= Self.size(queue)
    if order.first == device { order.removeFirst() } else { order.removeAll { $0 == device } }
  }

  private mutating func note(_ device: String, _ change: (inout DeviceQueue?) -> Void) {
    let before = queues[device].map(Self.size) ?? 0
    change(&queues[device])
    kilobytes += (queues[device].map(Self.size) ?? 0) - before
  }

  private mutating func makeRoom(for device: String) {
    while kilobytes > Self.kilobytesMax, let oldest = order.first(where: { $0 != device }) {
      forget(oldest)
    }
  }

  private static func size(_ queue: DeviceQueue) -> Int {
    1 + queue.kilobytes
  }
}
