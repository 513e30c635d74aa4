import FoundationEssentials

/// The `.gitignore` of a project, which keeps its data and secrets out of version control.
struct IgnoreFile {
  static let name = ".gitignore"

  /// A line that the file must have.
  private struct Rule {
    let line: String
    let comment: String
    /// Lines that have the same effect.
    let likes: Set<String>
  }

  private static let rules = [
    Rule(
      line: "data/", comment: "The database, the files and the key of the service",
      likes: ["data", "/data", "/data/", "**/data", "**/data/", "./data", "./data/", "data/*"]),
    Rule(
      line: ".env", comment: "Secrets, where a file sets the environment",
      likes: ["/.env", ".env*", "*.env", "**/.env"]),
  ]

  /// Maximum size of a file that is extended.
  private static let bytesMax = 1 << 20

  private let path: String

  /// - Parameter folder: of the project.
  init(in folder: String) { path = folder == "." ? Self.name : "\(folder)/\(Self.name)" }

  /// Writes the file; adds the lines that an existing one lacks, and changes nothing else of it.
  ///
  /// - Returns: a sentence that says what was done; nil if the file was complete. A project is usable without
  ///   the file, so a failure is a sentence too.
  func complete() -> String? {
    let manager = FileManager.default
    let isLink = (try? manager.destinationOfSymbolicLink(atPath: path)) != nil
    var isFolder = false
    let exists = manager.fileExists(atPath: path, isDirectory: &isFolder)
    guard exists || isLink else {
      return write(Self.text(adding: Self.rules, to: ""))
        ? "Written: \(path), to keep data and secrets out of version control."
        : note(Self.rules)
    }
    guard !isLink, !isFolder, let data = manager.contents(atPath: path),
      data.count <= Self.bytesMax, let text = String(validating: data, as: UTF8.self)
    else { return note(Self.rules) }
    let missing = Self.missing(from: text)
    guard !missing.isEmpty else { return nil }
    guard write(Self.text(adding: missing, to: text)) else { return note(missing) }
    return
      "Added to \(path): \(Self.list(missing)), to keep data and secrets out of version control."
  }

  private static func missing(from text: String) -> [Rule] {
    let lines = Set(
      text.split(whereSeparator: \.isNewline).map { line in
        String(line.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
      })
    // A line that includes what the rule leaves out is a decision of the operator.
    return rules.filter { rule in
      rule.likes.union([rule.line]).allSatisfy { !lines.contains($0) && !lines.contains("!\($0)") }
    }
  }

  private static func text(adding rules: [Rule], to text: String) -> String {
    let isOpen = text.last.map { !$0.isNewline } ?? false
    return text + (isOpen ? "\n" : "")
      + rules.map { "# \($0.comment)\n\($0.line)\n" }.joined()
  }

  private func write(_ text: String) -> Bool {
    (try? Data(text.utf8).write(to: URL(filePath: path), options: .atomic)) != nil
  }

  private func note(_ rules: [Rule]) -> String {
    "note: \(path) could not be written; add to it: \(Self.list(rules))."
  }

  private static func list(_ rules: [Rule]) -> String {
    rules.map { "`\($0.line)`" }.joined(separator: ", ")
  }
}
