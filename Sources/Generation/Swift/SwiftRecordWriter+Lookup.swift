import Upstream

extension SwiftRecordWriter {
  /// Writes which entity has the response of a query.
  mutating func lookup(_ lookup: ClientLookup) {
    let arguments = [
      SwiftTypes.quoted(lookup.type), "key: \(Self.list(lookup.key))",
      "keyFields: \(Self.list(lookup.keyFields))",
    ]
    code.line("public static let entityLookup: EntityLookup? = EntityLookup(")
    code.indented { code in
      code.block("\(arguments.joined(separator: ", ")), [", closing: "]") { code in
        for field in lookup.selection { Self.write(field, to: &code) }
      }
    }
    code.line(")")
  }

  private static func write(_ field: ClientLookup.Field, to code: inout CodeWriter) {
    let name = SwiftTypes.quoted(field.name)
    let condition = condition(field.conditions)
    switch field.value {
    case .leaf(let stored):
      code.line(".leaf(\(name)\(self.stored(stored, field))\(condition)),")
    case .typename(let typename):
      let other = typename.map { ", \(SwiftTypes.quoted($0))" } ?? ""
      code.line(".typename(\(name)\(other)\(condition)),")
    case .unknown: code.line(".unknown(\(name)\(condition)),")
    case .objects(let stored, let objects):
      let opening = ".object(\(name)\(self.stored(stored, field))\(condition), ["
      code.block(opening, closing: "]),") { code in
        for object in objects {
          code.block(".on(\(list(object.types)), [", closing: "]),") { code in
            for field in object.fields { write(field, to: &code) }
          }
        }
      }
    }
  }

  private static func stored(_ stored: String, _ field: ClientLookup.Field) -> String {
    stored == field.name ? "" : ", stored: \(SwiftTypes.quoted(stored))"
  }

  private static func condition(_ conditions: [ClientLookup.Condition]) -> String {
    guard !conditions.isEmpty else { return "" }
    let texts = conditions.map { condition in
      let variable = SwiftTypes.quoted(condition.variable)
      let fallback = condition.fallback ? ", byDefault: true" : ""
      return ".\(condition.isTrue ? "include" : "skip")(\(variable)\(fallback))"
    }
    return ", if: [\(texts.joined(separator: ", "))]"
  }

  private static func list(_ texts: [String]) -> String {
    "[\(texts.map(SwiftTypes.quoted).joined(separator: ", "))]"
  }
}
