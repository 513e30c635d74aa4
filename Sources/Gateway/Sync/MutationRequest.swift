package import LosslessJSON
package import Model
import Upstream

/// A mutation as submitted by a client, parsed but not validated.
package struct MutationRequest: Sendable {
  /// Nil if the client gave no valid name; ``faults`` has the reason.
  package let operation: String?
  package let mode: MutationMode
  /// An object, empty if the client gave none; nil if it gave another value.
  package let variables: JSONValue?
  /// `Type:id`; nil for the object in the operation's `@sync`.
  package let object: String?
  package let references: [String]
  /// Nil for the optimistic update in the operation's `@sync`.
  package let optimistic: [JSONValue]?
  /// Whether a forced mutation overtakes all queued ones, including those that it conflicts with.
  package let goesAheadOfAll: Bool
  /// The lifetime from now on; nil for no limit.
  package let expiresIn: Duration?
  /// The JSON pointer of the request in its list, such as `/3`; empty for a single request.
  package let pointer: String
  /// The whole request in canonical form, which the idempotency key stands for.
  package let canonicalBytes: [UInt8]
  /// Its syntax faults: a faulty request is validated further, but never enqueued.
  package let faults: [Failure.Detail]
  /// A list of local writes in place of an operation; nil for a mutation.
  package let write: JSONValue?
  /// The operation and its coerced variables, if a route has bound them; nil to look the operation up by
  /// its name.
  let bound: (operation: RegisteredOperation, variables: Variables)?

  package init(
    operation: String?, mode: MutationMode, variables: JSONValue?, object: String? = nil,
    references: [String] = [], optimistic: [JSONValue]? = nil, goesAheadOfAll: Bool = false,
    expiresIn: Duration? = nil, pointer: String = "", canonicalBytes: [UInt8],
    faults: [Failure.Detail] = [], write: JSONValue? = nil
  ) {
    self.write = write
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
    bound = nil
  }

  /// The request of an operation's own path, in mode `force`.
  init(forcing operation: RegisteredOperation, variables: Variables) {
    let given = (try? JSONValue(checked: variables.json)) ?? [:]
    self.operation = operation.name
    mode = .force
    self.variables = given
    object = nil
    references = []
    optimistic = nil
    goesAheadOfAll = false
    expiresIn = nil
    pointer = ""
    canonicalBytes =
      (["mode": "force", "operation": .string(operation.name), "variables": given] as JSONValue)
      .canonicalBytes
    faults = []
    write = nil
    bound = (operation, variables)
  }
}
