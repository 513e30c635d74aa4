/// Everything that is wrong with a server's certificates, in the order of their files.
package struct TLSContextFaults: Error, Equatable, Sendable, CustomStringConvertible {
  package let faults: [TLSContextError]

  package init(_ faults: [TLSContextError]) {
    self.faults = faults
  }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
