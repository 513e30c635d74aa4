package import Model

/// Queue time: the wall clock at the start of the server, advanced by a monotonic clock.
///
/// Due times are stored in it. A wall clock that is set back or forward while the server runs neither
/// stalls nor rushes a wait; waits from before a start are cut to the longest possible, see
/// ``DeviceQueue/recovering(boot:at:policy:using:)``.
package struct QueueClock: Hashable, Sendable {
  private let start: Timestamp
  private let startReading: Duration

  /// - Parameter reading: of a monotonic clock with any origin.
  package init(wall: Timestamp, reading: Duration) {
    start = wall
    startReading = reading
  }

  package func now(reading: Duration) -> Timestamp {
    start.advanced(by: max(.zero, reading - startReading))
  }

  /// Converts a wall-clock time of a client to queue time: equally far from now.
  package func time(ofWall wanted: Timestamp, wall: Timestamp, reading: Duration) -> Timestamp {
    now(reading: reading).advanced(
      by: .milliseconds(wanted.milliseconds - wall.milliseconds))
  }
}

/// The wake times of many names: a binary heap, in which outdated entries are skipped.
struct WakeTimes: Sendable {
  private struct Entry {
    let time: Timestamp
    let name: String
  }

  private var heap: [Entry] = []
  private var times: [String: Timestamp] = [:]

  /// The earliest of all.
  var first: Timestamp? { heap.first?.time }

  subscript(name: String) -> Timestamp? { times[name] }

  mutating func set(_ name: String, _ time: Timestamp?) {
    guard times[name] != time else { return }
    times[name] = time
    if let time { push(Entry(time: time, name: name)) }
    dropStale()
  }

  /// Removes and returns names whose time has come, at most `max`.
  mutating func takeDue(at now: Timestamp, max: Int) -> [String] {
    var due: [String] = []
    while due.count < max, let entry = heap.first, entry.time <= now {
      times[entry.name] = nil
      due.append(entry.name)
      dropStale()
    }
    return due
  }

  /// Removes outdated entries from the top of the heap.
  private mutating func dropStale() {
    while let top = heap.first, times[top.name] != top.time { pop() }
    // Frequent changes leave many outdated entries: rebuild the heap.
    if heap.count > 64, heap.count > 4 * times.count {
      let held = times
      heap = []
      for (name, time) in held { push(Entry(time: time, name: name)) }
    }
  }

  private mutating func push(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].time < heap[parent].time else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func pop() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var parent = 0
    while true {
      let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
      guard let least = children.min(by: { heap[$0].time < heap[$1].time }),
        heap[least].time < heap[parent].time
      else { return }
      heap.swapAt(least, parent)
      parent = least
    }
  }
}
