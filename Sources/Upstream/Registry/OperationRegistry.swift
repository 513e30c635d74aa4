package import Model

/// Every operation the service offers: a closed world, made once at start.
package final class OperationRegistry: Sendable {
  /// In alphabetical order.
  package let operations: [RegisteredOperation]
  package let catalogue: EntityCatalogue
  /// Views by fragment name.
  package let views: [String: EntityView]
  /// For reading the types of variables that are input objects.
  package let inputObjects: InputObjectTypes
  private let byName: [String: RegisteredOperation]

  init(
    operations: [RegisteredOperation], catalogue: EntityCatalogue, views: [String: EntityView],
    inputObjects: InputObjectTypes
  ) {
    self.operations = operations.sorted { $0.name < $1.name }
    self.catalogue = catalogue
    self.views = views
    self.inputObjects = inputObjects
    byName = Dictionary(operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The claims that operations share responses by, in alphabetical order.
  package var sharedClaims: [String] { Set(operations.compactMap(\.claim)).sorted() }

  /// The roles that operations with `@access` store their responses for.
  package var storedRoles: Set<Role> {
    Set(operations.filter { $0.claim == nil }.compactMap { $0.access.role?.demanded })
  }

  package func operation(named name: String) -> RegisteredOperation? { byName[name] }
}
