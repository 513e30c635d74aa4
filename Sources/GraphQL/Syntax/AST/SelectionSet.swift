/// `{ … }` with at least one selection.
package struct SelectionSet: Hashable, Sendable {
  package var selections: [Selection]
  package var location: Location

  package init(_ selections: [Selection], location: Location = .none) {
    self.selections = selections
    self.location = location
  }
}
