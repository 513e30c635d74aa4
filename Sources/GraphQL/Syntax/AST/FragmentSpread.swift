/// `...Name @directive`.
package struct FragmentSpread: Hashable, Sendable {
  package var name: Name
  package var directives: [Directive]
  package var location: Location

  package init(name: Name, directives: [Directive] = [], location: Location = .none) {
    self.name = name
    self.directives = directives
    self.location = location
  }
}
