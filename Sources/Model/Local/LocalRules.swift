/// What a field's values must keep to beside their type (`@length`, `@range`, `@pattern`).
package struct LocalRules: Hashable, Sendable {
  /// Elements of a list, or characters (Unicode scalars) of a text.
  package var lengthMin: Int?
  package var lengthMax: Int?
  package var rangeMin: Double?
  package var rangeMax: Double?
  /// What the whole text must match.
  package var pattern: TextPattern?

  package init() {}

  func lengthFault(_ count: Int, of unit: String) -> String? {
    if let lengthMin, count < lengthMin { return "has \(count) \(unit), at least \(lengthMin)" }
    if let lengthMax, count > lengthMax { return "has \(count) \(unit), at most \(lengthMax)" }
    return nil
  }

  func rangeFault(_ value: Double) -> String? {
    if let rangeMin, value < rangeMin { return "is less than \(rangeMin)" }
    if let rangeMax, value > rangeMax { return "is more than \(rangeMax)" }
    return nil
  }

  /// - Parameter budget: see ``TextPattern/matches(_:budget:)``.
  func patternFault(_ text: String, budget: inout Int) -> String? {
    guard let pattern else { return nil }
    guard text.unicodeScalars.count <= TextPattern.charactersMax else {
      return "has more than \(TextPattern.charactersMax) characters"
    }
    guard let matches = pattern.matches(text, budget: &budget) else {
      return "comes after texts that took too long to match: write fewer entities in one request"
    }
    return matches ? nil : "does not match \(pattern.source)"
  }
}

extension LocalRules: CustomStringConvertible {
  package var description: String {
    [lengthMin?.description, lengthMax?.description, rangeMin?.description, rangeMax?.description]
      .map { $0 ?? "" }.joined(separator: ",") + (pattern.map { " /\($0.source)/" } ?? "")
  }
}
