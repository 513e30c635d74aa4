import Yams

/// A settings file's text as raw values with their places.
///
/// Yams' node tree is used rather than its decoder because only nodes know where they stand.
struct SettingsDocument {
  let entries: [RawEntry]
  let faults: [SettingsFault]

  /// - Parameter name: what places call the file.
  init(parsing text: String, name: String) {
    var source = DistinctKeys(text: text)
    do throws(YAMLFault) {
      let root = try source.compose()
      var builder = RawTreeBuilder(fileName: name, renamed: source.renamed)
      entries = builder.entries(ofRoot: root)
      faults = builder.faults
    } catch {
      entries = []
      faults = [
        SettingsFault(
          .file(name: name, line: error.line, column: error.column), "not YAML: \(error.problem)")
      ]
    }
  }
}

/// Nodes to raw values; what no settings file may hold becomes a fault.
private struct RawTreeBuilder {
  let fileName: String
  let renamed: [DistinctKeys.Position: Unicode.Scalar]
  private(set) var faults: [SettingsFault] = []

  init(fileName: String, renamed: [DistinctKeys.Position: Unicode.Scalar]) {
    self.fileName = fileName
    self.renamed = renamed
  }

  mutating func entries(ofRoot root: Node?) -> [RawEntry] {
    guard let root else { return [] }
    switch value(root).form {
    case .map(let entries): return entries
    case .empty: return []
    case .text, .list:
      faults.append(
        SettingsFault(place(of: root), "settings are names with values, such as `listen: :8080`"))
      return []
    }
  }

  private mutating func value(_ node: Node) -> RawValue {
    let form: RawValue.Form
    switch node {
    case .scalar(let scalar):
      form = Self.isEmpty(scalar) ? .empty : .text(scalar.string)
    case .sequence(let nodes):
      form = .list(nodes.map { value($0) })
    case .mapping(let mapping):
      form = .map(mapping.compactMap { entry(name: $0.key, value: $0.value) })
    case .alias:
      // The parser has put the anchor's node in every alias's place.
      form = .empty
    }
    return RawValue(form: form, place: place(of: node))
  }

  private mutating func entry(name node: Node, value valueNode: Node) -> RawEntry? {
    let place = place(of: node)
    guard case .scalar(let scalar) = node else {
      faults.append(SettingsFault(place, "a setting's name is plain text"))
      return nil
    }
    var name = scalar.string
    if let mark = node.mark, let first = renamed[.init(line: mark.line, column: mark.column)] {
      name = String(first) + name.unicodeScalars.dropFirst().map(String.init).joined()
    }
    return RawEntry(name: name, place: place, value: value(valueNode))
  }

  private func place(of node: Node) -> SettingPlace {
    .file(name: fileName, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
  }

  private static func isEmpty(_ scalar: Node.Scalar) -> Bool {
    scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }
}
