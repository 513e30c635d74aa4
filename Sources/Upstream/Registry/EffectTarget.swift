/// What `@effects`, `@sync` and the like name: `Film:$input.id`, `Film`, `TopFilms`, `tag:films`.
package enum EffectTarget: Hashable, Sendable {
  /// One entity; the path begins with the variable's name. A composite key is an object with the
  /// key's fields as members.
  case entity(type: String, path: [String])
  case type(String)
  case operation(String)
  case tag(String)
}

extension EffectTarget: CustomStringConvertible {
  /// As written in the directive.
  package var description: String {
    switch self {
    case .entity(let type, let path): "\(type):$\(path.joined(separator: "."))"
    case .type(let name), .operation(let name): name
    case .tag(let name): "tag:\(name)"
    }
  }
}
