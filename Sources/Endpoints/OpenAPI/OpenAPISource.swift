package import LosslessJSON
package import Model

/// What the OpenAPI document is made from besides the operations' descriptions; Composition makes it.
package struct OpenAPISource: Sendable {
  /// `openapi.yaml`: the document without the paths and the schemas of operations.
  package var template: JSONValue
  package var schemas: OpenAPISchemas
  package var local: LocalSchema

  package init(
    template: JSONValue, schemas: OpenAPISchemas = OpenAPISchemas(), local: LocalSchema = .none
  ) {
    self.template = template
    self.schemas = schemas
    self.local = local
  }

  /// The names of components that the template and the service's own parts have.
  package var reservedNames: [String] {
    (template["components"]?["schemas"]?.members ?? []).map(\.name) + OpenAPIProblems.schemaNames
      + OpenAPILocalTypes(schema: local).componentNames
  }
}

/// The JSON schemas (draft 2020-12, as OpenAPI 3.1 uses them) of the team's operations and entities.
package struct OpenAPISchemas: Sendable {
  /// In the order of the document.
  package var components: [JSONMember]
  /// Of the response body, by operation.
  package var responses: [String: JSONValue]
  /// Of a variable's values other than null, by operation and name.
  package var variables: [String: [String: JSONValue]]
  /// The components of upstream's entity types, by type.
  package var entities: [String: String]

  package init(
    components: [JSONMember] = [], responses: [String: JSONValue] = [:],
    variables: [String: [String: JSONValue]] = [:], entities: [String: String] = [:]
  ) {
    self.components = components
    self.responses = responses
    self.variables = variables
    self.entities = entities
  }
}
