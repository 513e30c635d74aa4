/// Spellings of GraphQL names as identifiers.
enum IdentifierCase {
  /// `film` as `Film`.
  static func upperFirst(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// `Film` as `film`, and `URLCheck` as `urlCheck`: the capitals at the beginning, except the one that
  /// begins the next word.
  static func lowerFirst(_ name: String) -> String {
    let capitals = name.prefix { $0.isUppercase }
    guard capitals.count > 1, capitals.count < name.count else {
      return capitals.lowercased() + name.dropFirst(capitals.count)
    }
    let next = name[capitals.endIndex]
    let count = next.isLowercase ? capitals.count - 1 : capitals.count
    return name.prefix(count).lowercased() + name.dropFirst(count)
  }

  /// `SCI_FI` as `sciFi`; a name with lower-case letters only loses its first capital.
  static func camelCase(_ name: String) -> String {
    guard !name.contains(where: \.isLowercase) else { return lowerFirst(name) }
    let words = name.split(separator: "_")
    guard let first = words.first else { return name }
    let rest = words.dropFirst().map { $0.prefix(1) + $0.dropFirst().lowercased() }
    let text = first.lowercased() + rest.joined()
    return first.first?.isNumber == true ? "_" + text : text
  }
}
