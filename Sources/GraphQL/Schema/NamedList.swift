/// A member of a type that is found by its name.
package protocol Named {
  var name: String { get }
}

/// Members in the order of their declaration, each found by name in constant time. Of two members
/// with one name the first counts.
package struct NamedList<Element: Named & Sendable>: Sendable {
  private let elements: [Element]
  private let indexByName: [String: Int]

  package init(_ elements: [Element] = []) {
    self.elements = elements
    indexByName = Dictionary(
      elements.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  package subscript(name: String) -> Element? {
    indexByName[name].map { elements[$0] }
  }

  package var names: [String] { elements.map(\.name) }
}

extension NamedList: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { elements.count }
  package subscript(position: Int) -> Element { elements[position] }
}
