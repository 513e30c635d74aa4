import GraphQL
import TestSupport

/// A change that tends to break the rule it is named after; what it does break, the reference
/// tells.
struct DocumentMutation: Sendable {
  let rule: Rule
  let apply: @Sendable (inout DocumentEditor, Schema) -> Void

  static func mutations(for rule: Rule) -> [DocumentMutation] {
    all.filter { $0.rule == rule }
  }

  init(_ rule: Rule, _ apply: @escaping @Sendable (inout DocumentEditor, Schema) -> Void) {
    self.rule = rule
    self.apply = apply
  }

  static let all: [DocumentMutation] = definitions + fragments + variables + fields + arguments

  static let typename = Selection.field(Field(name: Name("__typename")))

  static func typeNames(_ schema: Schema, _ isWanted: (NamedType) -> Bool) -> [String] {
    schema.types.filter { !$0.name.hasPrefix("__") && isWanted($0) }.map(\.name)
  }
}
