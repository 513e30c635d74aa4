import Upstream

extension Finding {
  /// A fault of settings as a finding at its place.
  init(_ fault: SettingsFault) {
    switch fault.place {
    case .file(let name, let line, let column):
      self.init(
        severity: .fault, message: fault.message, path: name, line: line, column: column)
    case .wholeFile, .environment, .flag:
      self.init(severity: .fault, message: fault.message, path: fault.place.description)
    }
  }
}

extension LoadedSettings {
  /// Returns a finding with the place of the setting that it is about.
  func placing(_ finding: Finding) -> Finding {
    guard let setting = finding.setting else { return finding }
    let place = place(of: setting)
    switch place {
    case .file(let name, let line, let column):
      return Finding(
        severity: finding.severity, message: finding.message, path: name, line: line,
        column: column, excerpt: excerpt.show(place) ?? "", setting: setting)
    case .wholeFile, .environment, .flag:
      return Finding(
        severity: finding.severity, message: finding.message, path: place.description,
        setting: setting)
    }
  }
}
