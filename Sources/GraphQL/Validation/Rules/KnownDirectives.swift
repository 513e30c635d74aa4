extension DocumentSurvey {
  /// A directive is declared, and for the place where it stands (5.7.1, 5.7.2).
  func knownDirectives() -> [Fault] {
    definitions.flatMap(\.directives).flatMap { site in
      site.directives.compactMap { schema.faultOfUse($0, at: site.place) }
    }
  }
}

extension Schema {
  /// What is wrong with a directive's name and place, if anything.
  func faultOfUse(_ directive: Directive, at place: DirectiveLocation) -> Fault? {
    let name = directive.name.value
    guard let definition = self.directive(named: name) else {
      let hint = NearestNames.didYouMean(
        NearestNames.suggestions(for: name, among: directives.names).map { "@" + $0 })
      return Fault(
        .knownDirectives, "Unknown directive \"@\(name)\".\(hint)", at: directive.location)
    }
    if definition.locations.contains(place) { return nil }
    return Fault(
      .knownDirectives, "Directive \"@\(name)\" may not be used on \(place.rawValue).",
      at: directive.location)
  }
}
