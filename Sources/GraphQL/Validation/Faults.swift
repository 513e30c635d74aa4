/// All the faults found at once; never empty.
package struct Faults: Error, Hashable, Sendable, CustomStringConvertible {
  package let all: [Fault]

  package init(_ all: [Fault]) {
    self.all = all
  }

  package var description: String { all.map(\.description).joined(separator: "\n") }
}
