package import Model

extension EntityCatalogue {
  /// The catalogue with the types that live here alone, so that whoever reads entities reads them.
  package func adding(_ local: LocalSchema) -> EntityCatalogue {
    let shapes = shapes.merging(
      local.types.mapValues(\.shape).merging(
        local.objects.map { ($0, ObjectShape(type: $0, localFields: $1)) },
        uniquingKeysWith: { first, _ in first }),
      uniquingKeysWith: { first, _ in first })
    return EntityCatalogue(
      types: (types + local.types.values.map(\.entityType)).sorted { $0.name < $1.name },
      possibleTypes: possibleTypes, shapes: shapes)
  }
}

extension OperationRegistry {
  /// The same operations over a catalogue with local types, and with views of them.
  package func adding(_ local: LocalSchema, views added: [EntityView] = []) -> OperationRegistry {
    guard !local.isEmpty else { return self }
    return OperationRegistry(
      operations: operations, catalogue: catalogue.adding(local),
      views: views.merging(added.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
      inputObjects: inputObjects)
  }
}
