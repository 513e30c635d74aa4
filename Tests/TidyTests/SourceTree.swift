import Foundation
import Testing

/// The project's Swift files as text.
struct SourceTree {
  struct File: CustomTestStringConvertible {
    let module: String
    /// The path relative to the package's root.
    let path: String
    let lines: [String]

    var testDescription: String { path }

    /// The modules the file imports.
    var imports: [String] {
      lines.compactMap { line in
        var words = line.split(separator: " ").map(String.init)
        while let first = words.first, first != "import" {
          guard
            ["package", "public", "internal", "private", "fileprivate"].contains(first)
              || first.hasPrefix("@")
          else { return nil }
          words.removeFirst()
        }
        guard words.count >= 2 else { return nil }
        let kinds: Set = ["struct", "class", "enum", "func", "protocol", "let", "var", "typealias"]
        let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
        return String(name.prefix { $0 != "." })
      }
    }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// All files below `Sources/`.
  static let sources: [File] = files(below: "Sources")
  /// All files below `Tests/`.
  static let tests: [File] = files(below: "Tests")

  /// The files of the client libraries, without what their builds made.
  static let clients: [File] =
    ["Swift/Sources", "Swift/Tests", "Swift/Examples"].flatMap { files(below: "Clients/\($0)") }
    + ["src", "test", "conformance", "examples"].flatMap {
      files(below: "Clients/JavaScript/\($0)", suffix: "js")
    }
    + ["Clients/JavaScript/README.md", "Clients/JavaScript/examples/README.md"].compactMap {
      file(root.appending(path: $0), path: $0)
    }

  /// The console and the demo page.
  static let pages: [File] = ["js", "css", "html"].flatMap { files(below: "Public", suffix: $0) }

  /// The Markdown pages: at the root, in `docs/`, and beside the sources, those of the Swift client
  /// included.
  static let documents: [File] =
    files(below: "docs", suffix: ".md") + files(below: "Sources", suffix: ".md")
    + ["Sources", "Tests", "Examples"].flatMap {
      files(below: "Clients/Swift/\($0)", suffix: ".md")
    }
    + [
      "Clients/Swift/README.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
    ].compactMap { file(root.appending(path: $0), path: $0) }

  private static func files(below folder: String, suffix: String = ".swift") -> [File] {
    let start = root.appending(path: folder)
    let paths = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String }
    return (paths ?? []).filter { $0.hasSuffix(suffix) }.sorted().compactMap { path in
      file(start.appending(path: path), path: "\(folder)/\(path)")
    }
  }

  /// - Parameter path: relative to the package's root.
  private static func file(_ place: URL, path: String) -> File? {
    guard let text = try? String(contentsOf: place, encoding: .utf8) else { return nil }
    let parts = path.split(separator: "/")
    return File(
      module: parts.count > 1 ? String(parts[1]) : "", path: path,
      lines: text.components(separatedBy: "\n"))
  }
}
