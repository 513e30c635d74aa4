package import LosslessJSON
package import Model

/// Everything that clients send and receive, with its types: what code is generated from.
///
/// It describes responses as they are rendered, without the fields that plans add. Types have their names
/// in the schema, entities those that they are stored under.
package struct ClientInterface: Sendable {
  /// In alphabetical order.
  package var operations: [ClientOperation] = []
  /// In alphabetical order.
  package var fragments: [ClientFragment] = []
  /// The entity types that operations select, in alphabetical order.
  package var entities: [ClientEntity] = []
  /// The enums in use, in alphabetical order.
  package var enums: [ClientEnum] = []
  /// The input objects in use, in alphabetical order.
  package var inputs: [ClientInput] = []
  /// The scalars of the schemas in use, by name.
  package var scalars: [String: ClientScalar] = [:]
  /// Positions whose types clients cannot tell apart.
  package var faults: [Finding] = []

  package init() {}

  /// Adds the interface of another upstream, whose enums and input objects of the same name are alike.
  mutating func merge(_ other: ClientInterface) {
    operations = (operations + other.operations).sorted { $0.name < $1.name }
    fragments = (fragments + other.fragments).sorted { $0.name < $1.name }
    let enumNames = Set(enums.map(\.name))
    enums += other.enums.filter { !enumNames.contains($0.name) }
    enums.sort { $0.name < $1.name }
    let inputNames = Set(inputs.map(\.name))
    inputs += other.inputs.filter { !inputNames.contains($0.name) }
    inputs.sort { $0.name < $1.name }
    scalars.merge(other.scalars) { first, _ in first }
    faults += other.faults
    for entity in other.entities {
      guard let index = entities.firstIndex(where: { $0.name == entity.name }) else {
        entities.append(entity)
        continue
      }
      let known = Set(entities[index].fields.map(\.name))
      entities[index].fields += entity.fields.filter { !known.contains($0.name) }
    }
    entities.sort { $0.name < $1.name }
  }
}

/// An operation with its variables and its response.
package struct ClientOperation: Hashable, Sendable {
  package let name: String
  package let kind: OperationKind
  package let description: String?
  package let variables: [ClientField]
  package let response: ClientObject
  /// Nil for an operation that clients cannot answer from entities.
  package var lookup: ClientLookup?
}

/// A fragment: the fields that every selection with it has.
package struct ClientFragment: Hashable, Sendable {
  package let name: String
  package let description: String?
  package let object: ClientObject
}

/// An entity type as `/v1/entities` and `/v1/changes` show it.
package struct ClientEntity: Hashable, Sendable {
  package let name: String
  package let description: String?
  package let keyFields: [String]
  package var fields: [ClientField]
  /// Whether it is a local type, which clients write.
  package let isLocal: Bool

  package init(
    name: String, description: String? = nil, keyFields: [String], fields: [ClientField],
    isLocal: Bool = false
  ) {
    self.name = name
    self.description = description
    self.keyFields = keyFields
    self.fields = fields
    self.isLocal = isLocal
  }
}

/// A scalar as its schema describes it.
package struct ClientScalar: Hashable, Sendable {
  package let description: String?
  /// The address of its specification; nil without `@specifiedBy`.
  package let specifiedBy: String?

  package init(description: String? = nil, specifiedBy: String? = nil) {
    self.description = description
    self.specifiedBy = specifiedBy
  }
}

package struct ClientEnum: Hashable, Sendable {
  package struct Value: Hashable, Sendable {
    package let name: String
    package let description: String?
    package let deprecation: String?

    package init(name: String, description: String? = nil, deprecation: String? = nil) {
      self.name = name
      self.description = description
      self.deprecation = deprecation
    }
  }

  package let name: String
  package let description: String?
  /// In declared order.
  package let values: [Value]

  package init(name: String, description: String? = nil, values: [Value]) {
    self.name = name
    self.description = description
    self.values = values
  }
}

/// An input object, or the embedded type of a local type.
package struct ClientInput: Hashable, Sendable {
  package let name: String
  package let description: String?
  package let fields: [ClientField]
  /// Whether exactly one field must be given.
  package let isOneOf: Bool
  /// Whether it is the embedded type of a local type, which clients read too.
  package let isEmbedded: Bool

  package init(
    name: String, description: String? = nil, fields: [ClientField], isOneOf: Bool = false,
    isEmbedded: Bool = false
  ) {
    self.isEmbedded = isEmbedded
    self.name = name
    self.description = description
    self.fields = fields
    self.isOneOf = isOneOf
  }
}

/// A field of a response, an entity or an input object, or a variable.
package struct ClientField: Hashable, Sendable {
  /// The member's name in JSON.
  package let name: String
  package let type: ClientType
  /// Whether the member can be absent: its selection has a condition, it was never fetched, or it has a
  /// default.
  package let isConditional: Bool
  /// Whether the value is the name of its object's type.
  package let isTypename: Bool
  package let description: String?
  package let deprecation: String?
  /// The value of new local entities.
  package let fallback: JSONValue?

  package init(
    name: String, type: ClientType, isConditional: Bool = false, isTypename: Bool = false,
    description: String? = nil, deprecation: String? = nil, fallback: JSONValue? = nil
  ) {
    self.name = name
    self.type = type
    self.isConditional = isConditional
    self.isTypename = isTypename
    self.description = description
    self.deprecation = deprecation
    self.fallback = fallback
  }
}

package indirect enum ClientType: Hashable, Sendable {
  case nonNull(ClientType)
  case list(ClientType)
  /// A scalar by name.
  case scalar(String)
  /// A scalar of a known form, whatever settings say of scalars.
  case plain(ScalarForm)
  /// An enum by name.
  case enumeration(String)
  /// An input object, or an embedded type of local types, by name.
  case input(String)
  /// The fields selected on one type, or on all types of a position.
  case object(ClientObject)
  /// Objects of several types with different selections.
  case choice(ClientChoice)
  /// The key of another entity as text; with the type's name at an abstract position.
  case reference(isAbstract: Bool)
}

/// The fields selected at one position.
package struct ClientObject: Hashable, Sendable {
  /// The type's name in the schema.
  package let typeName: String
  /// In the order of the response.
  package let fields: [ClientField]
  /// The fragments that the selection has whatever the variables are, in order of first use.
  package let fragments: [String]

  package init(typeName: String, fields: [ClientField], fragments: [String]) {
    self.typeName = typeName
    self.fields = fields
    self.fragments = fragments
  }
}

/// A position with several types whose selections differ.
package struct ClientChoice: Hashable, Sendable {
  /// The member that has the type's name.
  package let typenameMember: String
  /// The selection on types without one of their own, unknown ones included.
  package let general: ClientObject
  package let variants: [ClientObject]
  /// The types in the schema without a selection of their own, in its order.
  package let others: [String]
}
