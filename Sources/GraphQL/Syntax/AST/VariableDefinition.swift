/// `$name: Type = default @directive`.
package struct VariableDefinition: Hashable, Sendable {
  package var description: Description?
  /// Without the dollar sign; its location begins after it.
  package var name: Name
  package var type: TypeReference
  package var defaultValue: Value?
  package var directives: [Directive]
  /// From the dollar sign on.
  package var location: Location

  package init(
    description: Description? = nil, name: Name, type: TypeReference, defaultValue: Value? = nil,
    directives: [Directive] = [],
    location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.directives = directives
    self.location = location
  }
}
