import Model

/// Writes structures, enums of structures and protocols in Swift.
struct SwiftRecordWriter {
  let names = LanguageNames.swift
  var code: CodeWriter

  init(_ code: CodeWriter) {
    self.code = code
  }

  /// Writes the inside of a type with other code.
  mutating func block(_ opening: String, _ body: (inout SwiftRecordWriter) -> Void) {
    code.block(opening) { code in
      var inner = SwiftRecordWriter(code)
      body(&inner)
      code = inner.code
    }
  }

  mutating func comment(_ text: String?) {
    if let text { code.comment(text, mark: "/// ") }
  }

  // MARK: Members

  /// - Parameter type: the text of a member's type.
  mutating func members(
    _ properties: [CodeProperty], type: (CodeProperty) -> String = SwiftTypes.read
  ) {
    for property in properties {
      comment(property.documentation)
      code.line("public var \(names.written(property.name)): \(type(property))")
    }
  }

  /// Writes an initializer with a default for each member that can be missing.
  mutating func initializer(
    _ properties: [CodeProperty], type: (CodeProperty) -> String = SwiftTypes.read
  ) {
    code.line()
    code.list("public init(", parameters(properties, type: type), ") {")
    let assigned = properties.map { names.written($0.name) }
    code.indented { code in
      for name in assigned { code.line("self.\(name) = \(name)") }
    }
    code.line("}")
  }

  func parameters(
    _ properties: [CodeProperty], type: (CodeProperty) -> String = SwiftTypes.read
  ) -> [String] {
    properties.map { property in
      let text = "\(names.written(property.name)): \(type(property))"
      if property.isOptional { return text + " = nil" }
      return SwiftTypes.literal(property.fallback, property.type).map { "\(text) = \($0)" } ?? text
    }
  }

  mutating func codingKeys(_ properties: [CodeProperty]) {
    guard properties.contains(where: { $0.name != $0.wire }) else { return }
    code.line()
    block("private enum CodingKeys: String, CodingKey {") { writer in
      for property in properties {
        let name = writer.names.written(property.name)
        writer.code.line(
          property.name == property.wire
            ? "case \(name)" : "case \(name) = \(SwiftTypes.quoted(property.wire))")
      }
    }
  }

  // MARK: Types

  mutating func shape(_ shape: CodeShape) {
    switch shape {
    case .record(let record): self.record(record)
    case .choice(let choice): self.choice(choice)
    }
  }

  mutating func record(_ record: CodeRecord, documentation: String? = nil) {
    comment(documentation)
    block("public struct \(record.name): \(Self.conformances(record.contracts)) {") {
      writer in
      writer.body(record)
    }
  }

  /// Writes the members, the initializer and the types inside.
  mutating func body(_ record: CodeRecord) {
    members(record.properties)
    initializer(record.properties)
    codingKeys(record.properties)
    for nested in record.nested {
      code.line()
      shape(nested.shape)
    }
  }

  private static func conformances(_ contracts: [CodeContract]) -> String {
    (["Codable", "Hashable", "Sendable"] + contracts.map(\.name)).joined(separator: ", ")
  }

  mutating func choice(_ choice: CodeChoice) {
    let cases = choice.variants.map { caseName($0.typeName) }
    block("public enum \(choice.name): \(Self.conformances(choice.contracts)) {") { writer in
      for (name, variant) in zip(cases, choice.variants) {
        writer.code.line("case \(writer.names.written(name))(\(variant.name))")
      }
      writer.comment("Any other type, and types that are newer than this code.")
      writer.code.line("case other(Other)")
      writer.coding(choice, cases)
      for property in choice.shared { writer.sharedMember(property, cases) }
      for record in choice.variants + [choice.other] {
        writer.code.line()
        writer.record(record)
      }
    }
  }

  private func caseName(_ typeName: String) -> String {
    let name = names.member(IdentifierCase.lowerFirst(typeName))
    return ["other", "none", "some"].contains(name) ? name + "_" : name
  }

  private mutating func coding(_ choice: CodeChoice, _ cases: [String]) {
    code.line()
    block("public init(from decoder: any Decoder) throws {") { writer in
      writer.code.line("let container = try decoder.container(keyedBy: TypenameKey.self)")
      writer.code.line("switch try container.decode(String.self, forKey: .typename) {")
      for (name, variant) in zip(cases, choice.variants) {
        let text = SwiftTypes.quoted(variant.typeName)
        writer.code.line(
          "case \(text): self = .\(writer.names.written(name))(try \(variant.name)(from: decoder))")
      }
      writer.code.line("default: self = .other(try Other(from: decoder))")
      writer.code.line("}")
    }
    code.line()
    block("public func encode(to encoder: any Encoder) throws {") { writer in
      writer.code.line("switch self {")
      for name in cases + ["other"] {
        writer.code.line(
          "case .\(writer.names.written(name))(let value): try value.encode(to: encoder)")
      }
      writer.code.line("}")
    }
    code.line()
    block("private enum TypenameKey: String, CodingKey {") { writer in
      writer.code.line("case typename = \(SwiftTypes.quoted(choice.typenameMember))")
    }
  }

  private mutating func sharedMember(_ property: CodeProperty, _ cases: [String]) {
    code.line()
    comment(property.documentation)
    let name = names.written(property.name)
    block("public var \(name): \(SwiftTypes.read(property)) {") { writer in
      writer.code.line("switch self {")
      for one in cases + ["other"] {
        writer.code.line("case .\(writer.names.written(one))(let value): value.\(name)")
      }
      writer.code.line("}")
    }
  }

  /// Writes the protocol of a fragment, or of a member of one.
  mutating func contract(_ contract: CodeContract) {
    comment(contract.documentation)
    block("public protocol \(contract.name): Sendable {") { writer in
      for property in contract.properties {
        if let inner = contract.nested[property.wire], let name = property.type.nestedName {
          writer.code.line("associatedtype \(name): \(inner.name)")
        }
      }
      for property in contract.properties {
        writer.comment(property.documentation)
        writer.code.line(
          "var \(writer.names.written(property.name)): \(SwiftTypes.read(property)) { get }")
      }
    }
  }
}

extension CodeType {
  /// The name of the type inside a record that it is made of; nil for others.
  var nestedName: String? {
    switch self {
    case .optional(let inner), .list(let inner): inner.nestedName
    case .nested(let name): name
    case .named, .scalar, .reference: nil
    }
  }
}
