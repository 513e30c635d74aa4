/// The six shapes of a JSON value, with the two booleans told apart (RFC 8259, section 3).
package enum JSONKind: UInt8, Sendable, Hashable {
  case null
  case `false`
  case `true`
  case number
  case string
  case array
  case object
}
