/// Names in a circle: who was served goes to the end.
struct TurnRing: Sendable {
  private var names: [String] = []
  /// Those before it have been served.
  private var head = 0
  private var members: Set<String> = []

  var isEmpty: Bool { members.isEmpty }
  var all: ArraySlice<String> { names[head...] }

  /// At the end, unless it waits already.
  mutating func append(_ name: String) {
    guard members.insert(name).inserted else { return }
    names.append(name)
  }

  mutating func popFirst() -> String? {
    guard head < names.count else { return nil }
    let name = names[head]
    head += 1
    members.remove(name)
    if head > 64, head > names.count / 2 {
      names.removeFirst(head)
      head = 0
    }
    return name
  }

  mutating func remove(_ name: String) {
    guard members.remove(name) != nil, let index = all.firstIndex(of: name) else { return }
    names.remove(at: index)
  }
}
