import LosslessJSON
import Upstream

/// Which entity answers a query, in the form that `lookup.js` of the JavaScript client reads.
struct TypeScriptLookup {
  let lookup: ClientLookup

  /// An object of JavaScript, a selected field a line.
  var text: String {
    let head =
      "type: \(Self.quoted(lookup.type)), key: \(Self.list(lookup.key)), "
      + "keyFields: \(Self.list(lookup.keyFields)), fields: ["
    return Self.block("{\(head)", lookup.selection.map(Self.text), "]}")
  }

  private static func text(_ field: ClientLookup.Field) -> String {
    var members = ["name: \(quoted(field.name))"]
    if !field.conditions.isEmpty {
      members.append("if: [\(field.conditions.map(text).joined(separator: ", "))]")
    }
    switch field.value {
    case .leaf(let stored): members += self.stored(stored, field)
    case .typename(let typename): members.append("typename: \(typename.map(quoted) ?? "null")")
    case .unknown: members.append("unknown: true")
    case .objects(let stored, let objects):
      members += self.stored(stored, field)
      return block("{\(members.joined(separator: ", ")), on: [", objects.map(text), "]},")
    }
    return "{\(members.joined(separator: ", "))},"
  }

  private static func text(_ object: ClientLookup.Object) -> String {
    block("{types: \(list(object.types)), fields: [", object.fields.map(text), "]},")
  }

  private static func text(_ condition: ClientLookup.Condition) -> String {
    let fallback = condition.fallback ? ", true" : ""
    return "[\(quoted(condition.variable)), \(condition.isTrue)\(fallback)]"
  }

  private static func stored(_ stored: String, _ field: ClientLookup.Field) -> [String] {
    stored == field.name ? [] : ["stored: \(quoted(stored))"]
  }

  private static func list(_ texts: [String]) -> String {
    "[\(texts.map(quoted).joined(separator: ", "))]"
  }

  private static func quoted(_ text: String) -> String { JSONValue.string(text).text }

  private static func block(_ opening: String, _ lines: [String], _ closing: String) -> String {
    ([opening] + lines.map(TypeScriptTypes.indented) + [closing]).joined(separator: "\n")
  }
}
