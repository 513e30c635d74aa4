import TestSupport

/// A random schema as SDL: entities with plain and composite keys, embedded objects, an interface
/// of both, and a union.
struct GeneratedSchema {
  struct Field {
    let name: String
    /// With lists and exclamation marks.
    let type: String
    /// The innermost name.
    let typeName: String
    let hasArguments: Bool
  }

  static let leaves = ["String", "Int", "Float", "Boolean", "ID", "Word", "Anything"]
  static let entities = ["Apple", "Berry", "Citrus"]
  static let embedded = ["Box", "Crate"]
  static let abstract = ["Fruit", "Stock"]
  static let possible = [
    "Fruit": ["Apple", "Berry", "Box"], "Stock": ["Apple", "Citrus", "Crate"],
  ]

  private(set) var fields: [String: [Field]] = [:]

  init(_ random: inout SeededGenerator) {
    for type in Self.entities + Self.embedded + ["Query"] {
      fields[type] = (0..<6).map { index in
        Self.field("\(type.lowercased())\(index)", &random)
      }
    }
    fields["Fruit"] = [
      Field(name: "label", type: "String", typeName: "String", hasArguments: false),
      Field(name: "twin", type: "Fruit", typeName: "Fruit", hasArguments: false),
    ]
    for type in Self.possible["Fruit", default: []] {
      fields[type, default: []] += fields["Fruit", default: []]
    }
    fields["Stock"] = []
    fields["Apple", default: []].insert(
      Field(name: "id", type: "ID!", typeName: "ID", hasArguments: false), at: 0)
    // A nullable key: then the object is embedded.
    fields["Berry", default: []].insert(
      Field(name: "id", type: "Int", typeName: "Int", hasArguments: false), at: 0)
    fields["Citrus", default: []] += [
      Field(name: "code", type: "String!", typeName: "String", hasArguments: false),
      Field(name: "lot", type: "Int!", typeName: "Int", hasArguments: false),
    ]
  }

  private static func field(_ name: String, _ random: inout SeededGenerator) -> Field {
    let names = Bool.random(using: &random) ? leaves : entities + embedded + abstract
    let typeName = names.randomElement(using: &random) ?? "String"
    var type = typeName
    if Bool.random(using: &random) { type += "!" }
    // No list, one, or a list of lists: two, two and one chances of five.
    for _ in 0..<(Int.random(in: 0..<5, using: &random) / 2) {
      type = "[\(type)]"
      if Bool.random(using: &random) { type += "!" }
    }
    return Field(
      name: name, type: type, typeName: typeName,
      hasArguments: Int.random(in: 0..<4, using: &random) == 0)
  }

  var sdl: String {
    var text = "scalar Anything enum Word { RED BLUE }\nunion Stock = Apple | Citrus | Crate\n"
    text += "interface Fruit { label: String twin: Fruit }\n"
    for type in Self.entities + Self.embedded + ["Query"] {
      let isFruit = Self.possible["Fruit"]?.contains(type) == true
      let key = type == "Citrus" ? " @key(fields: \"code lot\")" : ""
      text += "type \(type)\(isFruit ? " implements Fruit" : "")\(key) {\n"
      for field in fields[type] ?? [] {
        let arguments = field.hasArguments ? "(n: Int = 1, s: String)" : ""
        text += "  \(field.name)\(arguments): \(field.type)\n"
      }
      if type == "Query" { text += "  take(n: Int, s: String): Int\n" }
      text += "}\n"
    }
    return text
  }
}

/// Random operations against a ``GeneratedSchema``: aliases, arguments, variables, inline and named
/// fragments, conditions.
struct OperationGenerator {
  let schema: GeneratedSchema
  var random: SeededGenerator
  private var aliases = 0
  private var fragments: [String] = []

  init(schema: GeneratedSchema, random: SeededGenerator) {
    self.schema = schema
    self.random = random
  }

  mutating func operation(named name: String) -> String {
    fragments = []
    let body = set(on: "Query", depth: 4, prefix: name)
    return """
      query \(name)($n: Int, $s: String = "d", $yes: Boolean!, $no: Boolean = false) {
        use: __typename @include(if: $yes) @skip(if: $no) ...Use\(name) \(body)
      }
      fragment Use\(name) on Query { n: \(useOfVariables) }
      \(fragments.joined(separator: "\n"))
      """
  }

  /// Variables must be used, and random selections use them only sometimes.
  private var useOfVariables: String { "take(n: $n, s: $s)" }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  private mutating func set(on type: String, depth: Int, prefix: String) -> String {
    var selections: [String] = []
    if chance(4) { selections.append("__typename") }
    for field in schema.fields[type] ?? [] where !chance(3) {
      selections.append(self.field(field, depth: depth, prefix: prefix))
    }
    for member in GeneratedSchema.possible[type] ?? [] where depth > 0 && !chance(3) {
      selections.append("... on \(member) { \(set(on: member, depth: depth - 1, prefix: prefix)) }")
    }
    if chance(4), depth > 0 {
      let fragment = "\(prefix)F\(fragments.count)"
      fragments.append("")
      let index = fragments.count - 1
      let inner = set(on: type, depth: depth - 1, prefix: prefix)
      fragments[index] = "fragment \(fragment) on \(type) { \(inner) }"
      selections.append("...\(fragment)\(condition())")
    }
    selections.removeAll(where: \.isEmpty)
    return selections.isEmpty ? "__typename" : selections.joined(separator: " ")
  }

  private mutating func condition() -> String {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: " @include(if: $yes)"
    case 1: " @skip(if: $yes)"
    case 2: " @skip(if: $no)"
    default: ""
    }
  }

  private mutating func field(
    _ field: GeneratedSchema.Field, depth: Int, prefix: String
  ) -> String {
    let isLeaf = GeneratedSchema.leaves.contains(field.typeName)
    guard isLeaf || depth > 0 else { return "" }
    // A response name of its own wherever another selection could ask differently.
    aliases += 1
    var text = "a\(aliases): \(field.name)"
    if field.hasArguments {
      text +=
        ["", "(n: 2)", "(n: $n)", "(s: $s, n: null)", "(s: \"é\\\"\")"]
        .randomElement(using: &random) ?? ""
    }
    text += condition()
    if !isLeaf { text += " { \(set(on: field.typeName, depth: depth - 1, prefix: prefix)) }" }
    return text
  }
}

/// Operations for tests that need many of them.
enum GeneratedOperations {
  /// Every kind of position the sample schema has.
  static let handWritten = #"""
    query Everything($id: ID!, $x: Boolean = true) {
      film(id: $id) { ...Card cast(first: 2) { edges { role node { name } } pageInfo { endCursor } } }
      films(first: 3) { edges { cursor node { ...Card } } totalCount }
      topFilms { title related { ... on Film { year } ... on Person { born } ... on Stats { ratio } } }
      allGenres { label }
      search(text: "x") { __typename ... on Node { id } ... on Person { name @include(if: $x) } }
      node(id: $id) { ... on Person { films { tags } } }
      version
      stats { films }
    }
    query Merged { film(id: 1) { director { name } ...Directed } a: film(id: 2) { id director { id } } }
    fragment Directed on Film { director { born films { id notes } } }
    fragment Card on Film { title(lang: "de") year poster(size: LARGE) { url artist { name } } genres { label code } }
    mutation Rate($id: ID!) { rateFilm(id: $id, stars: 5) { rating director { name } } }
    subscription Changed($id: ID!) { filmChanged(id: $id) { ...Card } }
    """#
}
