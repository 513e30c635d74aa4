import GraphQL

/// The literals a directive was given. What has another kind than declared reads as absent:
/// validation reports it.
struct DirectiveArguments {
  let directive: Directive

  init(_ directive: Directive) {
    self.directive = directive
  }

  func string(_ name: String) -> String? { directive.argument(named: name)?.stringText }

  func bool(_ name: String) -> Bool? {
    if case .boolean(let flag)? = directive.argument(named: name)?.kind { flag } else { nil }
  }

  func int(_ name: String) -> Int? {
    if case .int(let digits)? = directive.argument(named: name)?.kind { Int(digits) } else { nil }
  }

  func enumValue(_ name: String) -> String? {
    if case .enum(let value)? = directive.argument(named: name)?.kind { value } else { nil }
  }

  /// Texts with their places. One text stands for a list of one.
  func strings(_ name: String) -> [(text: String, location: Location)] {
    guard let value = directive.argument(named: name) else { return [] }
    let items = if case .list(let items) = value.kind { items } else { [value] }
    return items.compactMap { item in item.stringText.map { ($0, item.location) } }
  }

  func location(_ name: String) -> Location {
    directive.argument(named: name)?.location ?? directive.location
  }
}
