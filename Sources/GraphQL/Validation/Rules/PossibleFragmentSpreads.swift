extension DocumentSurvey {
  /// Some object type satisfies both a fragment's condition and the place it is spread (5.5.2.3).
  func possibleFragmentSpreads() -> [Fault] {
    definitions.flatMap { definition in
      definition.inlineFragments.compactMap { site in
        fault("Fragment", type: site.type, parent: site.parent, at: site.fragment.location)
      }
        + definition.spreads.compactMap { site in
          let fragment = fragmentsByName[site.spread.name.value]?.definition
          return fault(
            "Fragment \"\(site.spread.name)\"",
            type: fragment.flatMap { schema.type(named: $0.typeCondition.value) },
            parent: site.parent, at: site.spread.location)
        }
    }
  }

  private func fault(
    _ subject: String, type: NamedType?, parent: NamedType?, at location: Location
  ) -> Fault? {
    guard let type, let parent, type.isComposite, !schema.typesOverlap(type, parent) else {
      return nil
    }
    return Fault(
      .possibleFragmentSpreads,
      "\(subject) cannot be spread here as objects of type \"\(parent.name)\" can never be of "
        + "type \"\(type.name)\".", at: location)
  }
}
