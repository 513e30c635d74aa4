extension DocumentSurvey {
  /// A spread names a fragment of the document (5.5.2.1).
  func knownFragmentNames() -> [Fault] {
    definitions.flatMap(\.spreads).compactMap { site in
      let name = site.spread.name
      guard fragmentsByName[name.value] == nil else { return nil }
      let hint = NearestNames.didYouMean(name.value, among: fragmentsByName.keys)
      return Fault(.knownFragmentNames, "Unknown fragment \"\(name)\".\(hint)", at: name.location)
    }
  }
}
