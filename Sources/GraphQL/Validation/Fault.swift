/// A fault of a document, a schema or a value, with a message for its author.
package struct Fault: Hashable, Sendable, Error {
  package let rule: Rule
  package let message: String
  /// The nodes at fault, most significant first. Empty if the fault has no location, as in a schema from
  /// introspection.
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

  /// The description, followed by each location with its source line and a caret.
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

/// All the faults found at once; never empty.
package struct Faults: Error, Hashable, Sendable, CustomStringConvertible {
  package let all: [Fault]

  package init(_ all: [Fault]) {
    self.all = all
  }

  package var description: String { all.map(\.description).joined(separator: "\n") }
}
