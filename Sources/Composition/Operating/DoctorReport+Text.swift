import LosslessJSON
import Model

extension DoctorReport {
  /// The findings, worst first, and otherwise in the order in which the parts are examined.
  private func sorted(isQuiet: Bool) -> [Finding] {
    let order: [Finding.Verdict] = isQuiet ? [.bad, .note] : [.bad, .note, .good]
    return order.flatMap { verdict in findings.filter { $0.verdict == verdict } }
  }

  /// The report for a person: a line for each finding, its cure below it, and a last line that sums up.
  ///
  /// - Parameters:
  ///   - isQuiet: whether only faults and notes are shown; empty if there is none.
  ///   - withSettings: whether the settings in force follow.
  package func text(
    isQuiet: Bool = false, withSettings: Bool = false,
    colors: TerminalColors = TerminalColors(isOn: false)
  ) -> String {
    var lines: [String] = []
    for finding in sorted(isQuiet: isQuiet) {
      let verdict = colors.paint(finding.verdict.rawValue, finding.verdict.color)
      lines.append("\(verdict)\t\(finding.part): \(finding.text)")
      if let cure = finding.cure { lines.append("\t  \(cure)") }
    }
    if !isQuiet { lines.append(summary) }
    if withSettings {
      lines.append("\nSettings in force:\n\(SettingsDump.yaml(loaded))")
    }
    return lines.joined(separator: "\n")
  }

  private var summary: String {
    func count(_ verdict: Finding.Verdict) -> Int {
      findings.count { $0.verdict == verdict }
    }
    let faults = count(.bad)
    return (faults == 0 ? "No faults" : faults.counted("fault"))
      + ", \(count(.note).counted("note")), \(count(.good)) ok."
  }

  /// The report for programs: `{"healthy", "findings": [{"verdict", "part", "text", "cure"}]}`, and with
  /// settings `"settings"` as `larder settings --json` prints them. `verdict` is `fault`, `note` or `ok`;
  /// `cure` is null if the text says what to do.
  package func json(isQuiet: Bool = false, withSettings: Bool = false) -> String {
    let documents = sorted(isQuiet: isQuiet).map { finding -> JSONValue in
      [
        "verdict": .string(finding.verdict.rawValue.lowercased()), "part": .string(finding.part),
        "text": .string(finding.text),
        "cure": finding.cure.map(JSONValue.string) ?? .null,
      ]
    }
    var members = [
      JSONMember("healthy", .bool(isHealthy)), JSONMember("findings", .array(documents)),
    ]
    if withSettings {
      members.append(JSONMember("settings", SettingsDump.items(loaded)))
    }
    return JSONValue.object(members).text
  }
}

extension DoctorReport.Finding.Verdict {
  fileprivate var color: TerminalColors.Color {
    switch self {
    case .good: .green
    case .note: .yellow
    case .bad: .red
    }
  }
}
