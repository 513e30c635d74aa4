/// The three kinds of operation; the raw value is the keyword.
package enum OperationType: String, Hashable, Sendable, CaseIterable {
  case query
  case mutation
  case subscription
}
