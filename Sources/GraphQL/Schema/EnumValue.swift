/// A value of an enum type.
package struct EnumValue: Named, Sendable {
  package let name: String
  package let description: String?
  package let deprecationReason: String?
  package let directives: [Directive]
  package let location: Location

  package init(
    name: String, description: String? = nil, deprecationReason: String? = nil,
    directives: [Directive] = [], location: Location = .none
  ) {
    self.name = name
    self.description = description
    self.deprecationReason = deprecationReason
    self.directives = directives
    self.location = location
  }
}
