/// Response names that Larder adds to operations for itself.
enum ReservedNames {
  /// No alias or field of the team's may begin with it.
  static let prefix = "larder_"
  static let typename = "larder_typename"

  /// The alias of a key field added to a selection on `type`. It names the type, because fields of
  /// one response name must have one type even on objects that never meet (specification, 5.3.2).
  static func key(_ field: String, on type: String) -> String { "\(prefix)\(type)_\(field)" }

  static func isReserved(_ name: String) -> Bool { name.hasPrefix(prefix) }
}
