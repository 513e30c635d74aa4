/// A relationship that settings define between entities of different upstreams: the members name
/// their owner's key in a field.
package struct EntityLink: Hashable, Sendable {
  /// The type of the owner.
  package let owner: String
  /// The relationship's name.
  package let name: String
  /// The type of the members.
  package let type: String
  /// The members' field that holds the owner's key.
  package let field: String

  package init(owner: String, name: String, type: String, field: String) {
    self.owner = owner
    self.name = name
    self.type = type
    self.field = field
  }
}
