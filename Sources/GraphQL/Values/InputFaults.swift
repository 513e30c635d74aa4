/// All the faults of the values given at once; never empty.
package struct InputFaults: Error, Hashable, Sendable, CustomStringConvertible {
  package let all: [InputFault]

  package init(_ all: [InputFault]) {
    self.all = all
  }

  package var description: String { all.map(\.description).joined(separator: "\n") }
}
