import LosslessJSON

/// Coerced arguments of a field, or the fields of a coerced input object: what was given and what
/// has a default. Absent differs from null.
struct Arguments {
  let members: [JSONMember]

  init(_ members: [JSONMember]) {
    self.members = members
  }

  /// Of an input object; empty for any other value.
  init(_ object: JSONValue?) {
    members = object?.members ?? []
  }

  subscript(name: String) -> JSONValue? {
    members.first { $0.name == name }?.value
  }

  func string(_ name: String) -> String? { self[name]?.string }
  func int(_ name: String) -> Int? { self[name]?.int64.flatMap(Int.init(exactly:)) }
  func double(_ name: String) -> Double? { self[name]?.number?.double }
  func strings(_ name: String) -> [String]? { self[name]?.array?.compactMap(\.string) }
  func object(_ name: String) -> Arguments? {
    self[name].flatMap { $0.members == nil ? nil : Arguments($0) }
  }
}
