/// The Markdown reference of all settings, generated from the table that reads them.
package enum SettingsReference {
  package static var markdown: String {
    let intro = """
      # Settings

      Settings are read in this order, and later values override earlier ones: the defaults, the
      settings file (`larder.yaml`, or the file named by `--config`), environment variables, flags.
      All faults are reported together, and nothing starts until they are fixed. Relative paths
      start at the settings file's folder. A duration is a whole number with the unit `ms`, `s`,
      `m`, `h` or `d`; a size is a number of bytes, or a whole number with the unit `KB`, `KiB`,
      `MB`, `MiB`, `GB`, `GiB`, `TB` or `TiB`. In a variable or a flag, the elements of a list are
      separated by commas, in brackets (`[a, b]`) or without; an open section (`{name: value}`) and
      a list of sections are YAML, as in the settings file. An empty variable counts as not set; an
      unknown variable that begins with `\(EnvironmentNames.prefix)` is a fault.

      `LARDER_KEY` is not a setting: it holds the key that encrypts secrets at rest, instead of the
      key file in the data folder.

      """
    return ([intro] + SettingTable.sections.map(section)).joined(separator: "\n")
  }

  private static func section(_ section: SettingSection) -> String {
    let title = section.name.isEmpty ? "Outside any section" : "`\(section.name)`"
    let rows = section.keys.map(row)
    return """
      ## \(title)

      \(section.doc)

      | Setting | Value | Default | Variable | |
      |---|---|---|---|---|
      \(rows.joined(separator: "\n"))

      """
  }

  private static func row(_ key: SettingKey) -> String {
    let variable = EnvironmentNames.variable(for: key.openSection ?? key.components)
    let value = "\(key.noun)<br>`\(key.example)`"
    let standard = key.memberForm == nil ? key.show(Settings(folder: ".")).first?.text : nil
    var remarks = [key.doc]
    if key.isSecret { remarks.append("Secret.") }
    let cells = [
      "`\(key.name)`", value, standard.map { "`\($0)`" } ?? "", "`\(variable)`",
      remarks.joined(separator: " "),
    ]
    return "| " + cells.map(escaped).joined(separator: " | ") + " |"
  }

  private static func escaped(_ cell: String) -> String {
    cell.map { $0 == "|" ? "\\|" : String($0) }.joined()
  }
}
