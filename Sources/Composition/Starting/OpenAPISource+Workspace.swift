import Endpoints
import Generation
import LosslessJSON
import Model
import Upstream

extension OpenAPISource {
  /// Returns what reads the OpenAPI document's parts: the template, and the schemas of a workspace's operations.
  static func reading(_ workspace: Workspace) -> @Sendable () throws -> OpenAPISource {
    let (interface, local) = (workspace.registry.interface, workspace.local)
    let scalars = workspace.settings.generate.scalars
    let publicURL = workspace.settings.publicURL?.text
    return {
      var template = try OpenAPIResource.value()
      if let publicURL { template["servers"] = [["url": .string(publicURL)]] }
      var source = OpenAPISource(template: template, local: local)
      if let interface {
        source.schemas = OpenAPISchemas(
          InterfaceSchemas(
            interface.adding(local), scalars: scalars, reserved: source.reservedNames,
            besideData: besideData))
      }
      return source
    }
  }

  /// The members of a response next to `data`.
  private static var besideData: [JSONMember] {
    [
      JSONMember(
        "errors", ["type": "array", "items": ["$ref": "#/components/schemas/GraphQLError"]]),
      JSONMember(
        "stale",
        [
          "type": "array",
          // Generators of Swift clients have no name for a component that is an array.
          "items": [
            "type": "array", "items": ["$ref": "#/components/schemas/ResponsePathPart"],
          ],
          "description": "The positions in `data` with last-good values in place of failed ones.",
        ]),
    ]
  }
}

extension OpenAPISchemas {
  init(_ schemas: InterfaceSchemas) {
    self.init(
      components: schemas.components, responses: schemas.responses, variables: schemas.variables,
      entities: schemas.entities)
  }
}
