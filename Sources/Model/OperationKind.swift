/// The kind of an operation.
package enum OperationKind: String, Hashable, Sendable, CaseIterable {
  case query
  case mutation
  case subscription
}
