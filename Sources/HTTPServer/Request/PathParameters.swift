/// What the names in a route's pattern stand for in one path, decoded.
package struct PathParameters: Sendable, Hashable {
  private var entries: [(name: String, value: String)] = []

  package init() {}

  /// The value of a name; `nil` where the pattern has none like it.
  package subscript(name: String) -> String? {
    entries.first { $0.name == name }?.value
  }

  package mutating func append(_ name: String, _ value: String) {
    entries.append((name, value))
  }

  package static func == (left: PathParameters, right: PathParameters) -> Bool {
    left.entries.elementsEqual(right.entries) { $0.name == $1.name && $0.value == $1.value }
  }

  package func hash(into hasher: inout Hasher) {
    for entry in entries {
      hasher.combine(entry.name)
      hasher.combine(entry.value)
    }
  }
}
