extension DocumentSurvey {
  /// Fields are selected down to scalars and enums, and no further (5.3.3).
  func scalarLeafs() -> [Fault] {
    definitions.flatMap(\.fields).compactMap { site in
      guard let definition = site.definition, let type = schema.type(of: definition.type),
        type.isOutput
      else { return nil }
      let name = site.field.name
      if type.isLeaf {
        return site.field.selectionSet.map { set in
          Fault(
            .scalarLeafs,
            "Field \"\(name)\" must not have a selection since type \"\(definition.type)\" has no "
              + "subfields.", at: set.location)
        }
      }
      if site.field.selectionSet != nil { return nil }
      return Fault(
        .scalarLeafs,
        "Field \"\(name)\" of type \"\(definition.type)\" must have a selection of subfields. "
          + "Did you mean \"\(name) { ... }\"?", at: site.field.location)
    }
  }
}
