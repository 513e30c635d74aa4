/// When each of many is to be looked at again: a binary heap, in which what was changed since is
/// passed over.
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

  /// Takes out those whose time has come, at most so many.
  mutating func takeDue(at now: Timestamp, max: Int) -> [String] {
    var due: [String] = []
    while due.count < max, let entry = heap.first, entry.time <= now {
      times[entry.name] = nil
      due.append(entry.name)
      dropStale()
    }
    return due
  }

  /// Keeps the promise that the top of the heap holds.
  private mutating func dropStale() {
    while let top = heap.first, times[top.name] != top.time { pop() }
    // Changed often, an entry leaves many stale ones behind: then begin anew.
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
