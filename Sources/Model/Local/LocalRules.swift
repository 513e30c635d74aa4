/// What a field's values must keep to beside their type (`@length`, `@range`, `@pattern`).
package struct LocalRules: Hashable, Sendable {
  /// Characters a pattern is tried on. Matching may take time that grows faster than the text.
  package static let patternCharactersMax = 1_000

  /// Elements of a list, or characters (Unicode scalars) of a text.
  package var lengthMin: Int?
  package var lengthMax: Int?
  package var rangeMin: Double?
  package var rangeMax: Double?
  /// A regular expression that the whole text must match.
  package var pattern: String?

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

  /// - Parameter regex: of ``pattern``, which takes long to compile.
  func patternFault(_ text: String, _ regex: Regex<AnyRegexOutput>?) -> String? {
    guard let pattern else { return nil }
    guard text.unicodeScalars.count <= Self.patternCharactersMax else {
      return "has more than \(Self.patternCharactersMax) characters"
    }
    guard let regex, (try? regex.wholeMatch(in: text)) != nil else {
      return "does not match \(pattern)"
    }
    return nil
  }
}

extension LocalRules: CustomStringConvertible {
  package var description: String {
    [lengthMin?.description, lengthMax?.description, rangeMin?.description, rangeMax?.description]
      .map { $0 ?? "" }.joined(separator: ",") + (pattern.map { " /\($0)/" } ?? "")
  }
}
