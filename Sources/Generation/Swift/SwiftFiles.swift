import Model
import Upstream

/// The Swift files of a model: one for each type at the top.
struct SwiftFiles {
  private static let opening = """
    \(GeneratedFile.header(of: .swift))

    import Foundation
    import Larder

    """

  let model: CodeModel

  var files: [GeneratedFile] {
    model.enums.map { type in file(type.name) { $0.enumeration(type) } }
      + model.inputs.map { type in file(type.name) { $0.input(type) } }
      + model.contracts.flatMap(\.all).map { part in file(part.name) { $0.contract(part) } }
      + model.entities.map { entity in file(entity.name) { $0.entity(entity) } }
      + model.operations.map { operation in file(operation.name) { $0.operation(operation) } }
  }

  private func file(
    _ name: String, _ body: (inout SwiftRecordWriter) -> Void
  ) -> GeneratedFile {
    var writer = SwiftRecordWriter(CodeWriter(indent: "  "))
    body(&writer)
    return GeneratedFile(name: "\(name).swift", text: Self.opening + "\n" + writer.code.text)
  }
}

extension SwiftRecordWriter {
  // MARK: Enums and input objects

  fileprivate mutating func enumeration(_ type: CodeEnum) {
    let cases = type.values.map { (name: names.value($0.name), raw: SwiftTypes.quoted($0.name)) }
    comment(type.documentation)
    block("public enum \(type.name): RawRepresentable, Codable, Hashable, Sendable {") { writer in
      for (value, one) in zip(type.values, cases) {
        writer.comment(Documentation.text(value.description, deprecation: value.deprecation))
        writer.code.line("case \(writer.names.written(one.name))")
      }
      writer.comment("A value that is newer than this code.")
      writer.code.line("case unknown(String)")
      writer.code.line()
      writer.comment("The values of the schema, in its order.")
      writer.code.list(
        "public static let known: [\(type.name)] = [",
        cases.map { ".\(writer.names.written($0.name))" }, "]", comma: true)
      writer.code.line()
      writer.block("public init(rawValue: String) {") { writer in
        writer.code.line("switch rawValue {")
        for one in cases {
          writer.code.line("case \(one.raw): self = .\(writer.names.written(one.name))")
        }
        writer.code.line("default: self = .unknown(rawValue)")
        writer.code.line("}")
      }
      writer.code.line()
      writer.block("public var rawValue: String {") { writer in
        writer.code.line("switch self {")
        for one in cases {
          writer.code.line("case .\(writer.names.written(one.name)): \(one.raw)")
        }
        writer.code.line("case .unknown(let value): value")
        writer.code.line("}")
      }
    }
  }

  fileprivate mutating func input(_ type: CodeInput) {
    let text = type.isEmbedded ? { SwiftTypes.read($0) } : { SwiftTypes.sent($0) }
    comment(type.documentation)
    guard type.isRecursive else {
      return block("public struct \(type.name): Codable, Hashable, Sendable {") { writer in
        writer.members(type.properties, type: text)
        writer.initializer(type.properties, type: text)
        writer.codingKeys(type.properties)
      }
    }
    // A structure cannot contain itself.
    block("public final class \(type.name): Codable, Hashable, Sendable {") { writer in
      for property in type.properties {
        writer.comment(property.documentation)
        writer.code.line("public let \(writer.names.written(property.name)): \(text(property))")
      }
      writer.initializer(type.properties, type: text)
      writer.codingKeys(type.properties)
      writer.identity(type)
    }
  }

  private mutating func identity(_ type: CodeInput) {
    let names = type.properties.map { self.names.written($0.name) }
    code.line()
    block("public static func == (left: \(type.name), right: \(type.name)) -> Bool {") { writer in
      for (index, name) in names.enumerated() {
        writer.code.line((index > 0 ? "  && " : "") + "left.\(name) == right.\(name)")
      }
    }
    code.line()
    block("public func hash(into hasher: inout Hasher) {") { writer in
      for name in names { writer.code.line("hasher.combine(\(name))") }
    }
  }

  // MARK: Entities

  fileprivate mutating func entity(_ entity: CodeEntity) {
    comment(entity.documentation)
    block("public struct \(entity.name): Entity {") { writer in
      let keys = entity.key.map { SwiftTypes.quoted($0.wire) }.joined(separator: ", ")
      writer.code.line("public static let typeName = \(SwiftTypes.quoted(entity.typeName))")
      writer.code.line("public static let keyFields = [\(keys)]")
      writer.code.line("public static let isLocal = \(entity.isLocal)")
      writer.code.line("public static let columns = Columns()")
      writer.code.line()
      let (record, identity) = Self.withIdentity(entity)
      writer.members(record.properties)
      if let identity {
        writer.code.line()
        writer.comment("The id in paths and references.")
        writer.code.line("public var id: String { \(identity) }")
      }
      writer.initializer(record.properties)
      writer.codingKeys(record.properties)
      writer.code.line()
      writer.columns(entity, record)
      for nested in record.nested {
        writer.code.line()
        writer.shape(nested.shape)
      }
    }
  }

  /// The record, with the expression of `id` if that is no member: a key of another name or of several
  /// fields. A member `id` that is no key then has another identifier.
  private static func withIdentity(_ entity: CodeEntity) -> (CodeRecord, String?) {
    if entity.key.count == 1, entity.key[0].name == "id" { return (entity.record, nil) }
    let taken = Set(entity.record.properties.map(\.name))
    var other = "id_"
    while taken.contains(other) { other += "_" }
    let record = CodeRecord(
      name: entity.record.name, typeName: entity.record.typeName,
      properties: entity.record.properties.map { $0.name == "id" ? $0.renamed(other) : $0 },
      nested: entity.record.nested)
    let parts = entity.key.map { property in
      let name = property.name == "id" ? other : LanguageNames.swift.written(property.name)
      return isText(property) ? "self.\(name)" : "\\(self.\(name))"
    }
    if let part = parts.first, parts.count == 1 {
      return (record, part.hasPrefix("\\") ? "\"\(part)\"" : part)
    }
    let texts = parts.map { $0.hasPrefix("\\") ? "\"\($0)\"" : $0 }
    return (record, "Self.compositeID([\(texts.joined(separator: ", "))])")
  }

  private static func isText(_ property: CodeProperty) -> Bool {
    property.type == .scalar(.string)
  }

  private mutating func columns(_ entity: CodeEntity, _ record: CodeRecord) {
    let wires = Set(entity.columns.map(\.wire))
    comment("The members that filters and orders can name.")
    block("public struct Columns: Sendable {") { writer in
      for property in record.properties where wires.contains(property.wire) {
        let type = SwiftTypes.text(property.type)
        writer.code.line(
          "public let \(writer.names.written(property.name)) = "
            + "Column<\(type)>(\(SwiftTypes.quoted(property.wire)))")
      }
      writer.code.line()
      writer.code.line("public init() {}")
    }
  }

  // MARK: Operations

  fileprivate mutating func operation(_ operation: CodeOperation) {
    let kind = operation.operation.kind.rawValue
    let variables = operation.variables
    comment(operation.documentation)
    block("public struct \(operation.name): GraphQLOperation {") { writer in
      writer.code.line(
        "public static let name = \(SwiftTypes.quoted(operation.operation.name))")
      writer.code.line("public static let kind = OperationKind.\(kind)")
      if let lookup = operation.operation.lookup { writer.lookup(lookup) }
      writer.code.line()
      writer.code.line("public var variables: Variables")
      writer.code.line()
      writer.code.list(
        "public init(", writer.parameters(variables, type: SwiftTypes.sent), ") {")
      let arguments = writer.arguments(variables)
      writer.code.indented { $0.list("variables = Variables(", arguments, ")") }
      writer.code.line("}")
      writer.code.line()
      writer.block("public struct Variables: Codable, Hashable, Sendable {") { writer in
        writer.members(variables, type: SwiftTypes.sent)
        writer.initializer(variables, type: SwiftTypes.sent)
        writer.codingKeys(variables)
      }
      writer.code.line()
      writer.record(operation.response)
    }
    code.line()
    builder(operation)
  }

  /// Writes the call as a member of the protocol, for `.film(id: "f1")`.
  private mutating func builder(_ operation: CodeOperation) {
    var name = names.member(IdentifierCase.lowerFirst(operation.operation.name))
    if ["name", "kind", "entityLookup"].contains(name) { name += "_" }
    block("extension GraphQLOperation where Self == \(operation.name) {") { writer in
      writer.comment(operation.documentation)
      writer.code.list(
        "public static func \(writer.names.written(name))(",
        writer.parameters(operation.variables, type: SwiftTypes.sent),
        ") -> \(operation.name) {")
      let arguments = writer.arguments(operation.variables)
      writer.code.indented { $0.list("\(operation.name)(", arguments, ")") }
      writer.code.line("}")
    }
  }

  private func arguments(_ properties: [CodeProperty]) -> [String] {
    properties.map { property in
      let name = names.written(property.name)
      // The compiler warns of other words that are quoted where they name an argument.
      return "\(property.name == "inout" ? name : property.name): \(name)"
    }
  }
}

extension CodeProperty {
  fileprivate func renamed(_ name: String) -> CodeProperty {
    CodeProperty(
      wire: wire, name: name, type: type, isNullable: isNullable, isConditional: isConditional,
      isTypename: isTypename, documentation: documentation, fallback: fallback)
  }
}
