import FoundationEssentials
import Upstream

/// The `*.graphql` files of a folder and the folders in it.
enum OperationFiles {
  /// Far above any operation a person or a generator writes; a wrong folder may hold anything.
  static let fileBytesMax = 16 << 20

  /// - Returns: the files by path, and what could not be read.
  static func read(folder: String) -> (files: [SourceFile], findings: [Finding]) {
    var isFolder: Bool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else {
      return ([], [Finding(severity: .fault, message: "there is no such folder", path: folder)])
    }
    var files: [SourceFile] = []
    var findings: [Finding] = []
    for path in paths(below: folder) {
      switch text(of: path, bytesMax: fileBytesMax, cure: "split it into several files") {
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
    text(of: path, bytesMax: fileBytesMax, cure: "make it smaller")
      .map { SourceFile(path: path, text: $0) }
  }

  /// The schema's file.
  static func read(schema path: String, bytesMax: Int) -> Result<SourceFile, UnreadableFile> {
    guard FileManager.default.fileExists(atPath: path) else {
      return .failure(
        UnreadableFile(
          "there is no such file; `larder schema pull` fetches the schema from upstream", path))
    }
    return text(of: path, bytesMax: bytesMax, cure: "raise the setting `schema.bytes`")
      .map { SourceFile(path: path, text: $0) }
  }

  struct UnreadableFile: Error {
    let finding: Finding

    init(_ message: String, _ path: String) {
      finding = Finding(severity: .fault, message: message, path: path)
    }
  }

  private static func paths(below folder: String) -> [String] {
    let manager = FileManager.default
    let names = (try? manager.subpathsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
      name.hasSuffix(".graphql") && !name.split(separator: "/").contains { $0.hasPrefix(".") }
    }.sorted().map { "\(folder)/\($0)" }
  }

  /// - Parameter cure: what to do about a file that is too large.
  private static func text(
    of path: String, bytesMax: Int, cure: String
  ) -> Result<String, UnreadableFile> {
    let manager = FileManager.default
    var isFolder = false
    guard manager.fileExists(atPath: path, isDirectory: &isFolder) else {
      return .failure(UnreadableFile("leads to no file", path))
    }
    if isFolder { return .failure(UnreadableFile("is a folder, not a file", path)) }
    let size = (try? manager.attributesOfItem(atPath: path))?[.size] as? UInt64 ?? 0
    let tooLarge = UnreadableFile("is larger than \(bytesMax) bytes; \(cure)", path)
    guard size <= UInt64(bytesMax) else { return .failure(tooLarge) }
    guard let data = manager.contents(atPath: path) else {
      return .failure(UnreadableFile("cannot be read; check its permissions", path))
    }
    guard data.count <= bytesMax else { return .failure(tooLarge) }
    guard let text = String(validating: data, as: UTF8.self) else {
      return .failure(UnreadableFile("is not UTF-8", path))
    }
    return .success(text)
  }
}
