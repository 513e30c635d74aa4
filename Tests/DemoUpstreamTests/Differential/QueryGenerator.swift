import GraphQL
import LosslessJSON
import TestSupport

@testable import DemoUpstream

/// Generates random queries on the test schema. Most are valid; the validator rejects the others.
struct QueryGenerator {
  private var random: SeededRandom
  private let schema: Schema
  private var fragments: [String] = []

  /// Fields for which the two executors differ by design: the reference accepts any value as an object and
  /// has no effects to count.
  private static let skippedFields: Set<String> = ["badObject", "count"]
  private static let depthMax = 5
  private static let fragmentsMax = 4

  private static let declarations = [
    "$yes": "$yes: Boolean!", "$no": "$no: Boolean = false", "$int": "$int: Int",
    "$five": "$five: Int = 5", "$text": "$text: String", "$box": "$box: Box",
    "$color": "$color: Color = BLUE", "$ints": "$ints: [Int!]",
  ]

  init(seed: UInt64, schema: Schema) {
    random = SeededRandom(seed: seed)
    self.schema = schema
  }

  /// A query and its variables.
  mutating func next() -> (query: String, variables: JSONValue) {
    fragments = []
    let root = schema.type(named: "Query")
    let body = root.map { selections(on: $0, depth: 0) } ?? "{ __typename }"
    let text = ([body] + fragments).joined(separator: "\n")
    let used = Self.declarations.filter { text.contains($0.key) }.sorted { $0.key < $1.key }
    let head = used.isEmpty ? "query" : "query Q(\(used.map(\.value).joined(separator: ", ")))"
    return ("\(head) \(text)", variables())
  }

  private mutating func variables() -> JSONValue {
    var members = [JSONMember("yes", .bool(!random.once(in: 4)))]
    if random.once(in: 2) { members.append(JSONMember("int", random.pick([1, -7, nil]))) }
    if random.once(in: 3) { members.append(JSONMember("five", 6)) }
    if random.once(in: 2) { members.append(JSONMember("text", random.pick(["", "é\"\n", nil]))) }
    if random.once(in: 2) { members.append(JSONMember("color", random.pick(["RED", "GREEN"]))) }
    if random.once(in: 2) {
      members.append(JSONMember("ints", random.pick([[1, 2], 3, [], nil])))
    }
    if random.once(in: 2) {
      let boxes: [JSONValue] = [
        ["height": 1], ["height": 2, "inner": ["height": 3, "width": 4], "tags": "x"], nil,
      ]
      members.append(JSONMember("box", random.pick(boxes)))
    }
    return .object(members)
  }

  private mutating func selections(on type: NamedType, depth: Int) -> String {
    let parts = (0..<random.number(1...4)).map { _ in
      selection(on: type, depth: depth)
    }
    // Indented, because the reference reports a wrong column at the very beginning of a line.
    return "{ \(parts.joined(separator: "\n  ")) }"
  }

  private mutating func selection(on type: NamedType, depth: Int) -> String {
    if random.once(in: 12) { return "__typename\(directive())" }
    if depth < Self.depthMax, random.once(in: type.isAbstract ? 2 : 5) {
      return fragment(on: type, depth: depth)
    }
    let fields = type.fields.filter { field in
      let isLeaf = schema.type(of: field.type)?.isLeaf ?? true
      return !Self.skippedFields.contains(field.name) && (isLeaf || depth < Self.depthMax)
    }
    guard !fields.isEmpty else { return "__typename" }
    let field = random.pick(fields)
    let alias = random.once(in: 5) ? "\(random.pick(["a", "b", "name"])): " : ""
    var text = "\(alias)\(field.name)\(arguments(of: field))\(directive())"
    if let inner = schema.type(of: field.type), inner.isComposite {
      text += " " + selections(on: inner, depth: depth + 1)
    }
    return text
  }

  private mutating func fragment(on type: NamedType, depth: Int) -> String {
    let conditions = schema.types.filter { $0.isComposite && schema.typesOverlap($0, type) }
    let condition = random.pick(conditions)
    let body = selections(on: condition, depth: depth + 1)
    if fragments.count < Self.fragmentsMax, random.once(in: 3) {
      let name = "F\(fragments.count)"
      fragments.append("fragment \(name) on \(condition.name) \(body)")
      return "...\(name)\(directive()) ...\(name)"
    }
    return random.once(in: 6)
      ? "...\(directive()) \(selections(on: type, depth: depth + 1))"
      : "... on \(condition.name)\(directive()) \(body)"
  }

  private mutating func directive() -> String {
    guard random.once(in: 6) else { return "" }
    let name = random.pick(["skip", "include"])
    return " @\(name)(if: \(random.pick(["true", "false", "$yes"])))"
  }

  private mutating func arguments(of field: SchemaField) -> String {
    let literals: [String: [String]] = [
      "int": ["1", "null", "$int", "$five", "-3"], "float": ["1.5", "null"],
      "text": ["\"\"", "\"a\\u00e9\\n\"", "\"\"\" block \"\"\"", "$text"],
      "flag": ["true", "null", "$yes", "$no"], "id": ["\"x\"", "12"],
      "color": ["RED", "$color", "null"], "ints": ["[1, 2]", "3", "[]", "$ints", "[$five]"],
      "deep": ["[[1], 2, null]", "null", "[[$int]]"],
      "box": [
        "{height: 1}", "{height: 2, width: 3, inner: {height: 4, tags: []}}", "$box",
        "{height: 5, label: $text, tags: \"t\"}",
      ],
      "any": ["{a: [1, true, \"s\", E]}", "null", "3", "[]"],
    ]
    let given = field.arguments.compactMap { argument -> String? in
      guard let choices = literals[argument.name], argument.isRequired || random.once(in: 3) else {
        return nil
      }
      return "\(argument.name): \(random.pick(choices))"
    }
    return given.isEmpty ? "" : "(\(given.joined(separator: ", ")))"
  }
}
