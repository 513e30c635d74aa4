/// `@name(argument: value)` where it is applied.
package struct Directive: Hashable, Sendable {
  package var name: Name
  package var arguments: [Argument]
  package var location: Location

  package init(name: Name, arguments: [Argument] = [], location: Location = .none) {
    self.name = name
    self.arguments = arguments
    self.location = location
  }

  package func argument(named name: String) -> Value? {
    arguments.first { $0.name.value == name }?.value
  }
}

extension [Directive] {
  /// The first application of a directive.
  package func directive(named name: String) -> Directive? {
    first { $0.name.value == name }
  }
}
