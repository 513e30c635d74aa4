package import LosslessJSON
package import Model
package import Upstream

/// The JSON schemas (draft 2020-12, as OpenAPI 3.1 uses them) of everything that clients send and receive.
///
/// | component | |
/// |---|---|
/// | `FilmResponse`, `FilmData` | the response of the operation `Film`, and its `data` |
/// | `Film_film_director` | an object in it, by its path; `Film_items_OnBook` if it is one of several types |
/// | `FilmCard` | a fragment |
/// | `FilmFilter`, `Genre` | an input object, an enum |
/// | `FilmEntity` | an entity as `/v1/entities` shows it |
package struct InterfaceSchemas: Sendable {
  /// In alphabetical order.
  package let components: [JSONMember]
  /// The schema of the response, by operation.
  package let responses: [String: JSONValue]
  /// The schemas of variables, by operation and name; without null for a variable that can be absent.
  package let variables: [String: [String: JSONValue]]
  /// The components of upstream's entity types, by type.
  package let entities: [String: String]

  /// - Parameters:
  ///   - scalars: the forms of scalars by name; others have their ``Model/ScalarForm/standard(of:)``.
  ///   - reserved: names that other components have.
  ///   - besideData: the members of every response next to `data`.
  package init(
    _ interface: ClientInterface, scalars: [String: ScalarForm], reserved: some Sequence<String>,
    besideData: [JSONMember]
  ) {
    var builder = SchemaBuilder(interface, scalars: scalars, reserved: reserved)
    for type in interface.enums { builder.add(type) }
    for input in interface.inputs where !input.isEmbedded { builder.add(input) }
    for fragment in interface.fragments { builder.add(fragment) }
    var entities: [String: String] = [:]
    for entity in interface.entities where !entity.isLocal {
      entities[entity.name] = builder.add(entity)
    }
    var responses: [String: JSONValue] = [:]
    var variables: [String: [String: JSONValue]] = [:]
    for operation in interface.operations {
      responses[operation.name] = builder.response(of: operation, besideData: besideData)
      variables[operation.name] = Dictionary(
        operation.variables.map { ($0.name, builder.variable($0)) },
        uniquingKeysWith: { first, _ in first })
    }
    components = builder.components.sorted { $0.name < $1.name }
    self.responses = responses
    self.variables = variables
    self.entities = entities
  }
}
