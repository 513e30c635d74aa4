/// The settings in force as a settings file, each followed by its origin. Secrets are masked, so the
/// text can be shown to anyone; with a secret in it, it cannot be loaded again.
package enum SettingsDump {
  /// The settings that the present form of the upstreams has.
  static func keys(of loaded: LoadedSettings) -> [SettingKey] {
    let isOne = loaded.settings.upstreams.isEmpty
    return SettingTable.keys.filter { isOne || $0.components.first != "upstream" }
  }

  package static func yaml(_ loaded: LoadedSettings) -> String {
    let lines = keys(of: loaded).flatMap { key in
      key.show(loaded.settings).compactMap { shown in
        shown.text.map { text in
          let origin = loaded.places[shown.name]?.description ?? "default"
          return Line(path: shown.path[...], text: "\(text)  # \(origin)")
        }
      }
    }
    return render(lines, depth: 0)
  }

  private struct Line {
    var path: ArraySlice<String>
    let text: String
  }

  /// Groups the lines by section, in order of each section's first line: the rows of an open section
  /// yield their lines row by row, not member by member.
  private static func render(_ lines: [Line], depth: Int) -> String {
    let indent = String(repeating: "  ", count: depth)
    var result = ""
    var written: Set<String> = []
    for line in lines {
      guard let first = line.path.first, written.insert(first).inserted else { continue }
      let name = YAMLText.scalar(first)
      let family = lines.filter { $0.path.first == first }
      if line.path.count == 1, family.count == 1 {
        result += "\(indent)\(name): \(line.text)\n"
      } else {
        let members = family.map { line in
          Line(
            path: line.path.count > 1 ? line.path.dropFirst() : [SettingTable.ownMember],
            text: line.text)
        }
        result += "\(indent)\(name):\n" + render(members, depth: depth + 1)
      }
    }
    return result
  }
}
