import Model

/// The queues that commands looked at lately, as the writer knows them without reading rows.
///
/// Who guards it: the writer's serial queue, as all of ``WriterMemory``. A command that fails makes
/// all of it forgotten: the rows are the truth.
struct QueueWorkingSet {
  /// Of all queues together: a device's is read anew where others pushed it out. An item takes
  /// about a kilobyte.
  private static let itemsMax = 20_000

  private var queues: [String: DeviceQueue] = [:]
  private var order: [String] = []
  private var itemCount = 0
  /// The last number given to a mutation; nil before the first was asked for.
  var lastSequence: Int64?

  func contains(_ device: String) -> Bool { queues[device] != nil }

  subscript(device: String) -> DeviceQueue? { queues[device] }

  mutating func keep(_ queue: DeviceQueue) {
    forget(queue.device)
    queues[queue.device] = queue
    order.append(queue.device)
    itemCount += Self.size(queue)
    while itemCount > Self.itemsMax, let oldest = order.first, oldest != queue.device {
      forget(oldest)
    }
  }

  /// In place: a queue of thousands is not copied.
  mutating func apply(_ changes: QueueChanges, to device: String) {
    guard let before = queues[device].map(Self.size) else { return }
    queues[device]?.apply(changes)
    itemCount += (queues[device].map(Self.size) ?? 0) - before
  }

  mutating func forget(_ device: String) {
    guard let queue = queues.removeValue(forKey: device) else { return }
    itemCount -= Self.size(queue)
    order.removeAll { $0 == device }
  }

  private static func size(_ queue: DeviceQueue) -> Int {
    1 + queue.pendingCount + queue.parkedCount
  }
}
