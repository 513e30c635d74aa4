import LosslessJSON
import Model
import Upstream

/// The type of a member in generated code.
indirect enum CodeType: Hashable, Sendable {
  case optional(CodeType)
  case list(CodeType)
  case scalar(ScalarForm)
  /// A type at the top of a file.
  case named(String)
  /// A type inside the member's own.
  case nested(String)
  /// The type and the key of another entity.
  case reference
}

/// A member of a generated type.
struct CodeProperty: Hashable, Sendable {
  /// The member's name in JSON.
  let wire: String
  /// The identifier, without quotation.
  let name: String
  /// Without the outermost null.
  let type: CodeType
  let isNullable: Bool
  /// Whether the member can be absent.
  let isConditional: Bool
  let isTypename: Bool
  let documentation: String?
  let fallback: JSONValue?

  var isOptional: Bool { isNullable || isConditional }

  /// Whether the members of two types can stand for one another.
  func agrees(with other: CodeProperty) -> Bool {
    wire == other.wire && type == other.type && isOptional == other.isOptional
  }
}

/// The members of an object with one type, or with several whose selections are alike.
struct CodeRecord: Sendable {
  let name: String
  /// The type's name in responses.
  let typeName: String
  let properties: [CodeProperty]
  var nested: [CodeNested] = []
  /// The fragments that its selection has.
  var fragments: [String] = []
  /// The contracts of fragments that it satisfies.
  var contracts: [CodeContract] = []

  func property(_ wire: String) -> CodeProperty? { properties.first { $0.wire == wire } }
  func nested(_ wire: String) -> CodeShape? { nested.first { $0.property == wire }?.shape }
}

/// A type inside a record.
struct CodeNested: Sendable {
  /// The name in JSON of the member that has it.
  let property: String
  var shape: CodeShape
}

indirect enum CodeShape: Sendable {
  case record(CodeRecord)
  case choice(CodeChoice)
}

/// An object of several types with different members.
struct CodeChoice: Sendable {
  let name: String
  let typenameMember: String
  /// The leaves that all types have.
  let shared: [CodeProperty]
  var variants: [CodeRecord]
  /// Types without a selection of their own, unknown ones included.
  var other: CodeRecord
  var contracts: [CodeContract] = []
}

/// What every selection with a fragment has: a protocol, or an interface.
struct CodeContract: Sendable {
  let name: String
  let documentation: String?
  let properties: [CodeProperty]
  /// The contracts of members that are objects, by the member's name in JSON.
  let nested: [String: CodeContract]

  /// The contract and those of its members, in order.
  var all: [CodeContract] {
    [self] + properties.compactMap { nested[$0.wire] }.flatMap(\.all)
  }
}

struct CodeEntity: Sendable {
  let name: String
  let documentation: String?
  let typeName: String
  let record: CodeRecord
  /// The members of the key, in declared order.
  let key: [CodeProperty]
  /// The members that filters and orders can name.
  let columns: [CodeProperty]
  let isLocal: Bool
}

struct CodeEnum: Sendable {
  let name: String
  let documentation: String?
  let values: [ClientEnum.Value]
}

struct CodeInput: Sendable {
  let name: String
  let documentation: String?
  let properties: [CodeProperty]
  /// Whether it is the embedded type of a local type, which is read too.
  let isEmbedded: Bool
  /// Whether it contains itself other than in a list.
  let isRecursive: Bool
}

struct CodeOperation: Sendable {
  /// The name of its type.
  let name: String
  let operation: ClientOperation
  let documentation: String?
  let variables: [CodeProperty]
  let response: CodeRecord
}

/// Everything that files are written from.
struct CodeModel: Sendable {
  var enums: [CodeEnum] = []
  var inputs: [CodeInput] = []
  var entities: [CodeEntity] = []
  /// Those of fragments, without those of their members.
  var contracts: [CodeContract] = []
  var operations: [CodeOperation] = []
}
