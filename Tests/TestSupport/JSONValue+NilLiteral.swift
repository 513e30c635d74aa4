package import LosslessJSON

/// JSON's null as `nil`, in expected values only. Sources do without: there `isSound ? value : nil` must be
/// an optional without a value.
extension JSONValue: ExpressibleByNilLiteral {
  package init(nilLiteral: ()) { self = .null }
}
