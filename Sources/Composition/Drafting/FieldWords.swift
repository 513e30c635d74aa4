/// The words of a field's name, and the names of operations and paths that are made of them.
struct FieldWords {
  /// Lower-case; at least one.
  let words: [String]
  private let name: String

  init(_ name: String) {
    self.name = name
    var words: [String] = []
    var current = ""
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      if character == "_" {
        if !current.isEmpty { words.append(current) }
        current = ""
        continue
      }
      let follows = index > 0 ? characters[index - 1] : "_"
      let next = index + 1 < characters.count ? characters[index + 1] : "_"
      // `filmID`, and the last letter of `HTTPStatus` before a word.
      let begins =
        character.isUppercase
        && (follows.isLowercase || follows.isNumber || follows.isUppercase && next.isLowercase)
      if begins, !current.isEmpty {
        words.append(current)
        current = ""
      }
      current += character.lowercased()
    }
    if !current.isEmpty { words.append(current) }
    self.words = words.isEmpty ? ["field"] : words
  }

  /// The name as that of an operation: `films_by_pk` as `FilmsByPk`.
  var operationName: String {
    let parts = name.split(separator: "_")
    return parts.isEmpty
      ? "Field" : parts.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// The name as a segment of a path.
  var segment: String { words.joined(separator: "-") }

  /// The segment of a list, without a leading verb: `allFilms` as `films`.
  var listSegment: String { withoutVerb.joined(separator: "-") }

  /// The segment of the list that an item belongs to, without a leading verb and the names of its keys:
  /// `getFilm` and `filmById` as `films`.
  ///
  /// - Parameter keys: the names of the key arguments.
  func itemSegment(keys: [String]) -> String {
    var rest = withoutVerb
    let keyWords = Set(keys.flatMap { FieldWords($0).words } + ["id", "pk", "key"])
    if let by = rest.lastIndex(of: "by"), by > 0,
      rest[(by + 1)...].allSatisfy({ keyWords.contains($0) || $0 == "and" })
    {
      rest = Array(rest[..<by])
    }
    rest[rest.count - 1] = Self.plural(rest[rest.count - 1])
    return rest.joined(separator: "-")
  }

  private static let verbs: Set<String> = ["all", "fetch", "find", "get", "list"]

  private var withoutVerb: [String] {
    words.count > 1 && Self.verbs.contains(words[0]) ? Array(words.dropFirst()) : words
  }

  private static let irregularPlurals = ["child": "children", "person": "people"]

  /// The plural of an English noun; a noun that ends with one `s` counts as one.
  private static func plural(_ noun: String) -> String {
    if let known = irregularPlurals[noun] { return known }
    if irregularPlurals.values.contains(noun) { return noun }
    if noun.hasSuffix("s"), !noun.hasSuffix("ss") { return noun }
    if ["ss", "x", "z", "ch", "sh"].contains(where: noun.hasSuffix) { return noun + "es" }
    if noun.hasSuffix("y"), let before = noun.dropLast().last, !"aeiou".contains(before) {
      return noun.dropLast() + "ies"
    }
    return noun + "s"
  }
}
