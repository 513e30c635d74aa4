import GraphQL

/// A diagnostic for the author of an operation, a schema or the settings.
package struct Finding: Hashable, Sendable {
  package enum Severity: String, Hashable, Sendable {
    /// The service does not start.
    case fault
    /// The service starts, but may not work as intended.
    case warning
  }

  package let severity: Severity
  package let message: String
  /// Empty without a file.
  package let path: String
  /// From 1; 0 without a file.
  package let line: Int
  /// From 1, in Unicode scalars; 0 without a file.
  package let column: Int
  /// The source line and a caret under the column; empty without a file.
  package let excerpt: String
  /// The full name of the setting that it is about, such as `types.Film.key`; nil for a document. Its
  /// place is known to the reader of the settings.
  package let setting: String?

  package init(
    severity: Severity, message: String, path: String = "", line: Int = 0, column: Int = 0,
    excerpt: String = "", setting: String? = nil
  ) {
    self.severity = severity
    self.message = message
    self.path = path
    self.line = line
    self.column = column
    self.excerpt = excerpt
    self.setting = setting
  }
}

extension Finding {
  /// Creates a finding about a setting.
  init(_ severity: Severity, _ message: String, setting: String) {
    self.init(severity: severity, message: message, setting: setting)
  }

  /// Returns the finding with a file in place of none.
  func placed(in path: String) -> Finding {
    guard self.path.isEmpty, setting == nil else { return self }
    return Finding(severity: severity, message: message, path: path)
  }

  /// Creates a finding at a location of a document, or without one.
  init(_ severity: Severity, _ message: String, at location: Location) {
    guard let source = location.source else {
      self.init(severity: severity, message: message)
      return
    }
    let position = source.position(at: location.start)
    self.init(
      severity: severity, message: message, path: source.name, line: position.line,
      column: position.column, excerpt: source.excerpt(at: location.start))
  }

  /// Creates a finding from a validation fault; further locations are named in the message.
  init(_ fault: Fault) {
    let others = fault.locations.dropFirst().compactMap { location in
      location.source.map { "\($0.name):\($0.position(at: location.start))" }
    }
    let also = others.isEmpty ? "" : " (see also \(others.joined(separator: ", ")))"
    self.init(
      .fault, ClientDirectives.withoutPrefix(fault.message) + also,
      at: fault.locations.first ?? .none)
  }
}

extension Finding: CustomStringConvertible {
  /// `file:line:column: fault: message`, on one line.
  package var description: String {
    let place = line > 0 ? "\(path):\(line):\(column): " : path.isEmpty ? "" : "\(path): "
    return "\(place)\(severity.rawValue): \(message)"
  }

  /// The description, followed by the excerpt.
  package var report: String {
    excerpt.isEmpty ? description : "\(description)\n\(excerpt)"
  }
}
