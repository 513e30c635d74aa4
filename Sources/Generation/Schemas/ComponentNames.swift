/// Gives each component of an OpenAPI document a name that no other has, also without regard to case and
/// underscores, since generators of clients drop both.
struct ComponentNames {
  private var taken: Set<String>

  init(reserved: some Sequence<String>) {
    taken = Set(reserved.map(Self.normal))
  }

  /// Returns the wanted name, or that name with a number after it.
  mutating func name(_ wanted: String) -> String {
    if taken.insert(Self.normal(wanted)).inserted { return wanted }
    var number = 2
    while !taken.insert(Self.normal("\(wanted)\(number)")).inserted { number += 1 }
    return "\(wanted)\(number)"
  }

  private static func normal(_ name: String) -> String {
    name.filter { $0 != "_" }.lowercased()
  }
}
