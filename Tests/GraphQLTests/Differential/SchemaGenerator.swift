import GraphQL
import TestSupport

/// Generates valid schemas: the same for the same seed.
struct SchemaGenerator {
  private var random: SeededGenerator
  private var enums: [String] = []
  private var inputs: [String] = []
  private var interfaces: [String] = []
  private var objects: [String] = []
  private var unions: [String] = []
  private var lines: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  mutating func sdl() -> String {
    enums = names("Enum", 1...3)
    inputs = names("Input", 2...4)
    interfaces = names("Face", 1...3)
    objects = names("Object", 3...6)
    unions = names("Union", 1...2)
    lines.append("scalar Custom")
    lines.append("directive @note(text: String, level: Int! = 1) on FIELD | FRAGMENT_SPREAD")
    lines.append("directive @must(flag: Boolean!) repeatable on QUERY | FIELD | INLINE_FRAGMENT")
    for name in enums { lines.append("enum \(name) { \(name)_A \(name)_B C }") }
    for (index, name) in inputs.enumerated() { addInput(name, index) }
    addOutputs()
    return lines.joined(separator: "\n") + "\n"
  }

  private mutating func names(_ stem: String, _ count: ClosedRange<Int>) -> [String] {
    (0..<Int.random(in: count, using: &random)).map { "\(stem)\($0)" }
  }

  /// A non-null input field uses only inputs declared before, so that none requires itself.
  private mutating func addInput(_ name: String, _ index: Int) {
    let fields = (0..<Int.random(in: 1...4, using: &random)).map { number -> String in
      let earlier = Array(inputs[..<index])
      let isRequired = Bool.random(using: &random)
      let candidates = ["Int", "String", "Boolean", "Float", "ID", "Custom"] + enums
      let leaf = candidates.randomElement(using: &random) ?? "Int"
      if isRequired {
        let type = (earlier + candidates).randomElement(using: &random) ?? "Int"
        return "i\(number): \(wrapped(type, isRequired: true))"
      }
      let type = number == 0 ? leaf : (inputs + candidates).randomElement(using: &random) ?? leaf
      return "i\(number): \(wrapped(type, isRequired: false))"
    }
    lines.append("input \(name) { \(fields.joined(separator: " ")) }")
  }

  private mutating func wrapped(_ type: String, isRequired: Bool) -> String {
    var text = type
    if Int.random(in: 0..<4, using: &random) == 0 {
      text = Bool.random(using: &random) ? "[\(text)!]" : "[\(text)]"
    }
    return isRequired ? text + "!" : text
  }

  private mutating func field(_ name: String) -> String {
    let outputs =
      ["Int", "String", "Boolean", "Float", "ID", "Custom"] + enums + interfaces + objects + unions
      + objects
    let type = outputs.randomElement(using: &random) ?? "Int"
    let arguments = (0..<Int.random(in: 0...2, using: &random)).map { number -> String in
      let type = (["Int", "String", "Boolean", "ID"] + enums + inputs).randomElement(using: &random)
      let isInt = type == "Int"
      let reference = wrapped(type ?? "Int", isRequired: Bool.random(using: &random))
      let hasDefault = isInt && Bool.random(using: &random)
      return "a\(number): \(reference)" + (hasDefault ? " = 7" : "")
    }
    let list = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
    return "\(name)\(list): \(wrapped(type, isRequired: Bool.random(using: &random)))"
  }

  private mutating func addOutputs() {
    var fieldsByInterface: [String: [String]] = [:]
    for (index, name) in interfaces.enumerated() {
      let fields = (0..<Int.random(in: 1...2, using: &random)).map { field("f\(index)\($0)") }
      fieldsByInterface[name] = fields
      lines.append("interface \(name) { \(fields.joined(separator: " ")) }")
    }
    for (index, name) in objects.enumerated() {
      let implemented = interfaces.filter { _ in Bool.random(using: &random) }
      let inherited = implemented.flatMap { fieldsByInterface[$0] ?? [] }
      // The same names on different types, for fields that overlap.
      let own = (0..<Int.random(in: 2...4, using: &random)).map { field("o\($0)") }
      let clause = implemented.isEmpty ? "" : " implements " + implemented.joined(separator: " & ")
      let isRoot = index == 0 ? "me: \(name)! " : ""
      lines.append(
        "type \(name)\(clause) { \(isRoot)\((inherited + own).joined(separator: " ")) }")
    }
    for name in unions {
      let members = objects.filter { _ in Bool.random(using: &random) }
      lines.append(
        "union \(name) = "
          + (members.isEmpty ? [objects[0]] : members).joined(separator: " | "))
    }
    lines.append(
      "schema { query: \(objects[0]) mutation: \(objects[1]) subscription: \(objects[2]) }")
  }
}
