extension DocumentSurvey {
  /// Some operation spreads every fragment, directly or through others (5.5.1.4).
  func noUnusedFragments() -> [Fault] {
    let used = Set(operations.flatMap(\.fragments).map(\.definition.name.value))
    return fragments.map(\.definition).filter { !used.contains($0.name.value) }.map { fragment in
      Fault(
        .noUnusedFragments, "Fragment \"\(fragment.name)\" is never used.", at: fragment.location)
    }
  }
}
