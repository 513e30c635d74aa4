import Yams

/// A settings file's text as raw values with their places.
///
/// Yams' node tree is used rather than its decoder because only nodes have a place.
struct SettingsDocument {
  let entries: [RawEntry]
  let faults: [SettingsFault]
  /// Why the text is not YAML; nil if it is.
  let yamlFault: YAMLFault?

  /// - Parameter name: the name of the file in places.
  init(parsing text: String, name: String) {
    var source = DistinctKeys(text: text)
    do throws(YAMLFault) {
      let root = try source.compose()
      var builder = RawTreeBuilder(fileName: name, renamed: source.renamed)
      entries = builder.entries(ofRoot: root)
      faults = builder.faults
      yamlFault = nil
    } catch {
      entries = []
      yamlFault = error
      faults = [
        SettingsFault(
          .file(name: name, line: error.line, column: error.column), "not YAML: \(error.problem)")
      ]
    }
  }
}

extension SettingsDocument {
  /// Reads the text of a variable or flag as a single value, such as a list of sections, whose parts are
  /// all placed at the variable or flag.
  ///
  /// - Throws: ``YAMLFault`` if the text is not YAML, or has a name that is not plain text.
  static func value(of text: String, at place: SettingPlace) throws(YAMLFault) -> RawValue {
    var source = DistinctKeys(text: text)
    let root = try source.compose()
    var builder = RawTreeBuilder(fileName: place.description, renamed: source.renamed)
    let value = root.map { builder.value($0) } ?? RawValue(form: .empty, place: place)
    if let fault = builder.faults.first {
      let (line, column) =
        if case .file(_, let line, let column) = fault.place { (line, column) } else { (1, 1) }
      throw YAMLFault(problem: fault.message, line: line, column: column)
    }
    return value.moved(to: place)
  }
}

/// Converts nodes to raw values; nodes that settings do not allow become faults.
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
        SettingsFault(
          place(of: root), "settings must be names with values, such as `listen: :8080`"))
      return []
    }
  }

  mutating func value(_ node: Node) -> RawValue {
    let form: RawValue.Form
    switch node {
    case .scalar(let scalar):
      form = Self.isEmpty(scalar) ? .empty : .text(scalar.string)
    case .sequence(let nodes):
      form = .list(nodes.map { value($0) })
    case .mapping(let mapping):
      form = .map(mapping.compactMap { entry(name: $0.key, value: $0.value) })
    case .alias:
      // The parser has replaced every alias with the anchor's node.
      form = .empty
    }
    return RawValue(form: form, place: place(of: node))
  }

  private mutating func entry(name node: Node, value valueNode: Node) -> RawEntry? {
    let place = place(of: node)
    guard case .scalar(let scalar) = node else {
      faults.append(SettingsFault(place, "a setting's name must be plain text"))
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

/// Composes YAML in which a name can occur twice.
///
/// Yams stops at the first section with a duplicate name, without reporting the place of the second
/// one, and every other fault would go unreported. So the first letter of the reported name is
/// replaced by a private-use scalar, which moves nothing, and the text is composed again;
/// ``renamed`` lets the reader restore the letter and find the duplicate itself.
struct DistinctKeys {
  struct Position: Hashable {
    let line: Int
    let column: Int
  }

  /// Maximum number of duplicate names; the file is rejected beyond it.
  private static let renamedMax = 100
  private static let firstPrivateUse: UInt32 = 0xE000

  private var scalars: [Unicode.Scalar]
  private(set) var renamed: [Position: Unicode.Scalar] = [:]

  init(text: String) {
    scalars = Array(text.unicodeScalars)
  }

  mutating func compose() throws(YAMLFault) -> Node? {
    while true {
      let text = String(String.UnicodeScalarView(scalars))
      do {
        // No resolver: the settings interpret the text, and Yams' own resolver compiles regular
        // expressions, which take megabytes. Explicit encoding: the default one reads the
        // environment, and prints what it finds.
        return try Yams.compose(yaml: text, .basic, .default, .utf8)
      } catch YamlError.duplicatedKeysInMapping(let names, let context) {
        guard rename(at: context.mark) else {
          throw YAMLFault(
            problem: "\(names.map { "`\($0)`" }.joined(separator: ", ")) is written twice",
            line: context.mark.line, column: context.mark.column)
        }
      } catch {
        throw YAMLFault(error, in: text)
      }
    }
  }

  private mutating func rename(at mark: Mark) -> Bool {
    let position = Position(line: mark.line, column: mark.column)
    guard renamed.count < Self.renamedMax, renamed[position] == nil,
      let substitute = Unicode.Scalar(Self.firstPrivateUse + UInt32(renamed.count)),
      var index = SourceLines(scalars).offset(line: mark.line, column: mark.column)
    else { return false }
    if scalars[index] == "\"" || scalars[index] == "'" { index += 1 }
    guard index < scalars.count else { return false }
    renamed[position] = scalars[index]
    scalars[index] = substitute
    return true
  }
}
