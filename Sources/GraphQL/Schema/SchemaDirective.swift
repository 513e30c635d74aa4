/// A directive a schema declares.
package struct SchemaDirective: Named, Sendable {
  package let name: String
  package let description: String?
  package let arguments: NamedList<InputValue>
  package let isRepeatable: Bool
  package let locations: Set<DirectiveLocation>
  package let location: Location

  package init(
    name: String, description: String? = nil, arguments: NamedList<InputValue> = NamedList(),
    isRepeatable: Bool = false, locations: Set<DirectiveLocation>, location: Location = .none
  ) {
    self.name = name
    self.description = description
    self.arguments = arguments
    self.isRepeatable = isRepeatable
    self.locations = locations
    self.location = location
  }
}
