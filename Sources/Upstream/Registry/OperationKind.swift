/// What an operation does upstream.
package enum OperationKind: String, Hashable, Sendable, CaseIterable {
  case query
  case mutation
  case subscription
}
