import Model
import Upstream

/// The TypeScript module of a model: types, and the names and kinds of operations. All of it but the
/// latter is removed by a compiler, or by Node.
struct TypeScriptFile {
  static let name = "larder.ts"

  let model: CodeModel
  private let types = TypeScriptTypes()

  init(model: CodeModel) {
    self.model = model
  }

  var file: GeneratedFile {
    let parts =
      [GeneratedFile.header(of: .typescript), Self.common] + model.enums.map(enumeration)
      + model.inputs.map(input) + model.contracts.map(contract)
      + model.entities.map(entity) + [entities] + model.operations.flatMap(operation) + [operations]
    return GeneratedFile(name: Self.name, text: parts.joined(separator: "\n\n") + "\n")
  }

  private static let common = """
    /** An operation with the types of its variables and its response. */
    export interface Operation<Variables, Response> {
      readonly name: string;
      readonly kind: "query" | "mutation" | "subscription";
      /** Never set: it carries the types. */
      readonly types?: (variables: Variables) => Response;
      /** Which entity answers it, for `withLookups` of the JavaScript client. */
      readonly lookup?: object;
    }

    /** The type and the key of an entity. */
    export interface Reference {
      readonly type: string;
      readonly id: string;
    }
    """

  // MARK: Declarations

  private func declaration(_ comment: String?, _ text: String) -> String {
    (types.comment(comment) + [text]).joined(separator: "\n")
  }

  private func interface(_ name: String, _ members: [String]) -> String {
    guard !members.isEmpty else { return "export type \(name) = Record<string, never>;" }
    let lines = members.map(TypeScriptTypes.indented).joined(separator: "\n")
    return "export interface \(name) {\n\(lines)\n}"
  }

  private func enumeration(_ type: CodeEnum) -> String {
    // The last one keeps values that are newer than this code.
    let values = type.values.map { "  | \"\($0.name)\"" } + ["  | (string & {})"]
    return declaration(
      type.documentation, "export type \(type.name) =\n\(values.joined(separator: "\n"));")
  }

  private func input(_ type: CodeInput) -> String {
    declaration(type.documentation, interface(type.name, sent(type.properties)))
  }

  private func sent(_ properties: [CodeProperty]) -> [String] {
    properties.flatMap { types.comment($0.documentation) + [types.sent($0)] }
  }

  /// Parts of a fragment are written in place.
  private func contract(_ contract: CodeContract) -> String {
    declaration(contract.documentation, "export interface \(contract.name) \(text(contract))")
  }

  private func text(_ contract: CodeContract) -> String {
    types.text(record(contract))
  }

  private func record(_ contract: CodeContract) -> CodeRecord {
    CodeRecord(
      name: contract.name, typeName: "", properties: contract.properties,
      nested: contract.properties.compactMap { property in
        contract.nested[property.wire].map {
          CodeNested(property: property.wire, shape: .record(record($0)))
        }
      })
  }

  // MARK: Entities

  private func entity(_ entity: CodeEntity) -> String {
    let members = entity.record.properties.flatMap { property in
      types.comment(property.documentation) + [
        entity.isLocal
          ? types.sent(property)
          : types.member(property, shape: entity.record.nested(property.wire))
      ]
    }
    return declaration(
      entity.documentation,
      interface(entity.name, ["readonly __typename?: \"\(entity.typeName)\";"] + members))
  }

  private var entities: String {
    let members = model.entities.map { "readonly \($0.typeName): \($0.name);" }
    return declaration("The entity types by name.", interface("Entities", members))
  }

  // MARK: Operations

  private func operation(_ operation: CodeOperation) -> [String] {
    let name = operation.name
    let own = operation.operation
    let variables = interface("\(name)Variables", sent(operation.variables))
    let response = "export interface \(name)Response \(types.text(operation.response))"
    var members = ["name: \"\(own.name)\",", "kind: \"\(own.kind.rawValue)\","]
    if let lookup = own.lookup {
      members.append("lookup: \(TypeScriptLookup(lookup: lookup).text),")
    }
    let value = """
      export const \(name): Operation<\(name)Variables, \(name)Response> = {
      \(members.map(TypeScriptTypes.indented).joined(separator: "\n"))
      };
      """
    return [variables, response, declaration(operation.documentation, value)]
  }

  private var operations: String {
    let members = model.operations.map { operation in
      """
      readonly \(operation.operation.name): {
        readonly variables: \(operation.name)Variables;
        readonly response: \(operation.name)Response;
      };
      """
    }
    return declaration("The operations by name.", interface("Operations", members))
  }
}
