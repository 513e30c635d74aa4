/// The reference of all settings, made from the table that reads them.
package enum SettingsReference {
  package static var markdown: String {
    let intro = """
      # Settings

      Read in this order, each over the one before: the defaults, the settings file
      (`larder.yaml`, or what `--config` names), the environment, flags. All faults are reported
      at once and nothing starts before they are mended. Relative paths are relative to the
      settings file. Durations are a whole number and `ms`, `s`, `m`, `h` or `d`; sizes are a
      number of bytes or end in `KB`, `KiB`, `MB`, `MiB`, `GB`, `GiB`, `TB` or `TiB`. A variable
      holds a list with commas, an open section as YAML (`{name: value}`); an empty one counts as
      not set, one that begins with `\(EnvironmentNames.prefix)` and is not listed here is a fault.

      `LARDER_KEY` is no setting: it holds the key that seals secrets at rest, in place of the key
      file in the data folder.

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
    if !key.isInUse { remarks.append("*Accepted, not used by this version.*") }
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
