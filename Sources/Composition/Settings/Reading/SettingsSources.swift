/// What settings are made of, as values: reading them from disk and process is elsewhere, so that
/// everything else is a function of these.
package struct SettingsSources: Sendable {
  package struct File: Sendable {
    package let name: String
    let text: String

    /// - Parameter name: as the operator named it; relative paths start from its folder.
    package init(name: String, text: String) {
      self.name = name
      // A byte order mark would be taken for part of the first name, and YAML counts CR LF once.
      var scalars = text.unicodeScalars
      if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
      var normal = String.UnicodeScalarView()
      var previous: Unicode.Scalar?
      for scalar in scalars {
        if scalar == "\n", previous == "\r" { normal.removeLast() }
        normal.append(scalar)
        previous = scalar
      }
      self.text = String(normal)
    }
  }

  package struct Flag: Sendable {
    package let setting: String
    package let spelling: String
    package let value: String

    /// - Parameters:
    ///   - setting: a name of the table, `upstream.url`.
    ///   - spelling: what the operator typed, for messages; `--upstream.url` if nil.
    package init(_ setting: String, spelling: String? = nil, value: String) {
      self.setting = setting
      self.spelling = spelling ?? "--\(setting)"
      self.value = value
    }
  }

  package static let defaultFileName = "larder.yaml"

  package var file: File?
  package var environment: [String: String]
  /// In the order of the command line; a later one wins.
  package var flags: [Flag]

  package init(file: File? = nil, environment: [String: String] = [:], flags: [Flag] = []) {
    self.file = file
    self.environment = environment
    self.flags = flags
  }

  var folder: String { file.map { FolderPath.folder(of: $0.name) } ?? "." }
}
