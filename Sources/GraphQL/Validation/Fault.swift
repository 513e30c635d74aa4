/// One thing wrong in a document, a schema or a value, told for the person who wrote it.
package struct Fault: Hashable, Sendable, Error {
  package let rule: Rule
  package let message: String
  /// The nodes at fault, the first one the most telling. Empty if the fault has no place, as for a
  /// schema that came from introspection.
  package let locations: [Location]

  package init(_ rule: Rule, _ message: String, at locations: [Location] = []) {
    self.rule = rule
    self.message = message
    self.locations = locations.filter { $0.source != nil }
  }

  package init(_ rule: Rule, _ message: String, at location: Location) {
    self.init(rule, message, at: [location])
  }

  /// Line and column of each location, in order.
  package var positions: [SourcePosition] { locations.compactMap(\.position) }
}

extension Fault: CustomStringConvertible {
  /// `name:line:column: message [Rule]`, on one line.
  package var description: String {
    guard let location = locations.first, let source = location.source else {
      return "\(message) [\(rule.rawValue)]"
    }
    return "\(source.name):\(source.position(at: location.start)): \(message) [\(rule.rawValue)]"
  }

  /// The description, followed by each place with its line of source and a caret.
  package var report: String {
    var lines = [description]
    for (index, location) in locations.enumerated() {
      guard let source = location.source else { continue }
      if index > 0 { lines.append("\(source.name):\(source.position(at: location.start))") }
      lines.append(source.excerpt(at: location.start))
    }
    return lines.joined(separator: "\n")
  }
}
