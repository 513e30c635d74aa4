import Model

/// The texts of types in TypeScript. Types inside records are written in place.
struct TypeScriptTypes {
  static let indent = "  "

  /// - Parameter shape: of the member's record; nil if it has none.
  func text(_ type: CodeType, _ shape: CodeShape?) -> String {
    switch type {
    case .optional(let inner): text(inner, shape) + " | null"
    case .list(let item):
      "readonly \(isUnion(item, shape) ? "(\(text(item, shape)))" : text(item, shape))[]"
    case .named(let name): name
    case .reference: "Reference"
    case .scalar(let form): text(form)
    case .nested:
      switch shape {
      case .record(let record): text(record)
      case .choice(let choice): text(choice)
      case nil: "unknown"
      }
    }
  }

  private func isUnion(_ type: CodeType, _ shape: CodeShape?) -> Bool {
    switch (type, shape) {
    case (.optional, _): true
    case (.nested, .choice): true
    case (.list, _): true
    default: false
    }
  }

  private func text(_ form: ScalarForm) -> String {
    switch form {
    case .string, .date, .uuid, .url, .data: "string"
    case .int, .long, .double, .decimal: "number"
    case .boolean: "boolean"
    case .json: "unknown"
    }
  }

  // MARK: Members

  /// `{` and `}` with a member a line.
  func text(_ record: CodeRecord, typename: String? = nil) -> String {
    let members = record.properties.flatMap { property -> [String] in
      comment(property.documentation) + [
        member(property, shape: record.nested(property.wire), typename: typename)
      ]
    }
    return "{\n" + members.map(Self.indented).joined(separator: "\n") + "\n}"
  }

  private func text(_ choice: CodeChoice) -> String {
    // No response has the last name: it makes every use treat types that it does not know.
    let records =
      choice.variants.map { text($0, typename: $0.typeName) }
      + [text(choice.other, typename: "%other")]
    return "\n" + records.map { Self.indented("| " + $0) }.joined(separator: "\n") + "\n"
  }

  /// A member of a response: null and absence differ.
  func member(
    _ property: CodeProperty, shape: CodeShape?, typename: String? = nil
  ) -> String {
    let mark = property.isConditional ? "?" : ""
    let text =
      if property.isTypename, let typename { "\"\(typename)\"" } else {
        union(text(property.type, shape), isNullable: property.isNullable)
      }
    // A union has a line for each of its types.
    return text.hasPrefix("\n")
      ? "readonly \(property.wire)\(mark):\(text.dropLast());"
      : "readonly \(property.wire)\(mark): \(text);"
  }

  /// A member that is only sent, or that can be.
  func sent(_ property: CodeProperty) -> String {
    let mark = property.isOptional ? "?" : ""
    let text = union(text(property.type, nil), isNullable: property.isNullable)
    return "readonly \(property.wire)\(mark): \(text);"
  }

  private func union(_ text: String, isNullable: Bool) -> String {
    guard isNullable else { return text }
    return text.hasPrefix("\n") ? text + Self.indented("| null") + "\n" : "\(text) | null"
  }

  func comment(_ text: String?) -> [String] {
    guard let text = text?.replacing("*/", with: "*\u{200B}/") else { return [] }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count > 1 else { return ["/** \(text) */"] }
    return ["/**"] + lines.map { $0.isEmpty ? " *" : " * \($0)" } + [" */"]
  }

  static func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : indent + $0 }.joined(separator: "\n")
  }
}
