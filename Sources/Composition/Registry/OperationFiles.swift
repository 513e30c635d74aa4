import FoundationEssentials
import Upstream

/// The `*.graphql` files of a folder and the folders in it.
enum OperationFiles {
  /// Far above any operation a person writes; a wrong folder may hold anything.
  private static let fileBytesMax = 1 << 20

  /// - Returns: the files by path, and what could not be read.
  static func read(folder: String) -> (files: [SourceFile], findings: [Finding]) {
    var isFolder: Bool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else {
      return ([], [Finding(severity: .fault, message: "there is no such folder", path: folder)])
    }
    var files: [SourceFile] = []
    var findings: [Finding] = []
    for path in paths(below: folder) {
      switch text(of: path) {
      case .success(let text): files.append(SourceFile(path: path, text: text))
      case .failure(let finding): findings.append(finding.finding)
      }
    }
    if files.isEmpty, findings.isEmpty {
      findings.append(
        Finding(severity: .fault, message: "holds no *.graphql file", path: folder))
    }
    return (files, findings)
  }

  /// One file as a source.
  static func read(file path: String) -> Result<SourceFile, UnreadableFile> {
    text(of: path).map { SourceFile(path: path, text: $0) }
  }

  struct UnreadableFile: Error {
    let finding: Finding
  }

  private static func paths(below folder: String) -> [String] {
    let manager = FileManager.default
    let names = (try? manager.subpathsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
      name.hasSuffix(".graphql") && !name.split(separator: "/").contains { $0.hasPrefix(".") }
    }.sorted().map { "\(folder)/\($0)" }
  }

  private static func text(of path: String) -> Result<String, UnreadableFile> {
    func unreadable(_ message: String) -> Result<String, UnreadableFile> {
      .failure(UnreadableFile(finding: Finding(severity: .fault, message: message, path: path)))
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      return unreadable("cannot be read")
    }
    guard data.count <= fileBytesMax else {
      return unreadable("is larger than \(fileBytesMax) bytes")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      return unreadable("is not UTF-8")
    }
    return .success(text)
  }
}
