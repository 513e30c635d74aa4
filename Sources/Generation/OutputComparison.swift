/// Generated files compared with those of a folder.
package struct OutputComparison: Hashable, Sendable {
  /// Files that are generated and differ.
  package private(set) var stale: [String] = []
  /// Files that the folder does not have.
  package private(set) var missing: [String] = []
  /// Generated files of the folder that are not generated any more.
  package private(set) var surplus: [String] = []
  /// Files in the place of a generated one that are not generated, or cannot be read: they are kept.
  package private(set) var foreign: [String] = []
  /// The files to write.
  package private(set) var unwritten: [GeneratedFile] = []

  package var isCurrent: Bool {
    stale.isEmpty && missing.isEmpty && surplus.isEmpty && foreign.isEmpty
  }

  /// - Parameter existing: the files of the folder that have the language's suffix, with their texts; nil
  ///   for one that is no text.
  package init(
    _ files: [GeneratedFile], existing: [String: String?], language: TargetLanguage
  ) {
    for file in files {
      guard let text = existing[file.name] else {
        missing.append(file.name)
        unwritten.append(file)
        continue
      }
      guard let text, GeneratedFile.isGenerated(text, language) else {
        foreign.append(file.name)
        continue
      }
      if text != file.text {
        stale.append(file.name)
        unwritten.append(file)
      }
    }
    let wanted = Set(files.map(\.name))
    surplus = existing.compactMap { name, text in
      guard !wanted.contains(name), let text, GeneratedFile.isGenerated(text, language) else {
        return nil
      }
      return name
    }.sorted()
  }

  /// One line for each file that is not as generated.
  package var lines: [String] {
    stale.map { "stale: \($0)" } + missing.map { "missing: \($0)" }
      + surplus.map { "surplus: \($0)" } + foreign.map { "not generated: \($0)" }
  }
}
