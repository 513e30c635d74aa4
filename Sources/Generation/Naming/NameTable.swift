/// The types at the top of generated files, which must have different names.
struct NameTable {
  private var owners: [String: (name: String, thing: String)] = [:]
  private(set) var faults: [String] = []
  /// Whether names that differ only in case collide too, since each is a file.
  private let ignoresCase: Bool

  init(ignoresCase: Bool) {
    self.ignoresCase = ignoresCase
  }

  /// - Parameter thing: what has the name, such as "the fragment FilmCard".
  mutating func add(_ name: String, _ thing: String) {
    let key = ignoresCase ? name.lowercased() : name
    guard let owner = owners[key] else {
      owners[key] = (name, thing)
      return
    }
    let names = owner.name == name ? name : "\(owner.name) and \(name)"
    faults.append("\(names): \(owner.thing) and \(thing) have the same name; rename one of them.")
  }
}
