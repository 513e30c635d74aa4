package import LosslessJSON
package import Model

/// One mutation as a client hands it over, read but not yet judged.
package struct MutationRequest: Sendable {
  package enum Mode: String, Sendable, CaseIterable {
    case lazy
    case steady
    case force
  }

  /// Nil where the client gave none that can be read; ``faults`` tells.
  package let operation: String?
  package let mode: Mode
  /// An object, empty where the client gave none; nil where it gave something else.
  package let variables: JSONValue?
  /// `Type:id`; nil leaves it to the operation's `@sync`.
  package let object: String?
  package let references: [String]
  package let optimistic: [JSONValue]
  /// A force that goes ahead of everything, what it meets included.
  package let goesAheadOfAll: Bool
  /// From now on; nil for as long as it takes.
  package let expiresIn: Duration?
  /// Of the list that the request stands in, as `/3`; empty for a request alone.
  package let pointer: String
  /// Of everything that the client said, in canonical form: what a key stands for.
  package let canonicalBytes: [UInt8]
  /// What is wrong with how it is written: it is judged for all else, and not taken.
  package let faults: [Failure.Detail]

  package init(
    operation: String?, mode: Mode, variables: JSONValue?, object: String? = nil,
    references: [String] = [], optimistic: [JSONValue] = [], goesAheadOfAll: Bool = false,
    expiresIn: Duration? = nil, pointer: String = "", canonicalBytes: [UInt8],
    faults: [Failure.Detail] = []
  ) {
    self.operation = operation
    self.mode = mode
    self.variables = variables
    self.object = object
    self.references = references
    self.optimistic = optimistic
    self.goesAheadOfAll = goesAheadOfAll
    self.expiresIn = expiresIn
    self.pointer = pointer
    self.canonicalBytes = canonicalBytes
    self.faults = faults
  }
}
