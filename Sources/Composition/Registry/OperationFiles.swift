import FoundationEssentials
import Model
import Upstream

/// The operations: the `*.graphql` files of a folder and its subfolders, or a manifest.
enum OperationFiles {
  /// Maximum size of a file: far above any written operation, because a wrong folder can contain anything.
  static let fileBytesMax = 16 << 20

  /// Reads the operations at a path: all files of a folder, or the documents of a manifest.
  static func read(operations path: String) -> (files: [SourceFile], findings: [Finding]) {
    var isFolder = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    guard exists, !isFolder else { return read(folder: path) }
    switch read(file: path) {
    case .success(let file): return DocumentManifest.read(file)
    case .failure(let unreadable): return ([], [unreadable.finding])
    }
  }

  /// Reads all files of a folder.
  ///
  /// - Returns: the files by path, and findings for those that could not be read.
  static func read(folder: String) -> (files: [SourceFile], findings: [Finding]) {
    var isFolder: Bool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else {
      return (
        [],
        [
          Finding(
            severity: .fault,
            message:
              "does not exist; name a folder or a manifest with `operations`, or \(beginning)",
            path: folder)
        ]
      )
    }
    var files: [SourceFile] = []
    var findings: [Finding] = []
    for path in paths(below: folder) {
      switch text(of: path, bytesMax: fileBytesMax, cure: "split it into several files") {
      case .success(let text): files.append(SourceFile(path: path, text: text))
      case .failure(let finding): findings.append(finding.finding)
      }
    }
    let misnamed = misnamed(below: folder)
    if files.isEmpty, findings.isEmpty {
      let cure = misnamed.isEmpty ? "write an operation, or \(beginning)" : "rename those below"
      findings.append(
        Finding(
          severity: .fault, message: "contains no *.graphql file; \(cure)", path: folder))
    }
    findings += misnamed.map { path, name in
      Finding(
        severity: .warning,
        message: "is not read, because operations are in *.graphql files; rename it to \(name)",
        path: path)
    }
    return (files, findings)
  }

  /// What to do without operations.
  static let beginning =
    "begin with `larder init URL`, which writes operations for an API (into a new folder with --output)"

  /// The endings of files that other tools take for GraphQL documents.
  private static let otherEndings = ["gql", "gqls", "graphqls"]

  /// The files that look like operations but do not have their ending, with the names that they should have.
  private static func misnamed(below folder: String) -> [(path: String, name: String)] {
    names(below: folder).compactMap { name in
      guard let dot = name.lastIndex(of: "."), !name.hasSuffix(ending) else { return nil }
      let own = name[name.index(after: dot)...].lowercased()
      guard own == ending.dropFirst() || otherEndings.contains(own) else { return nil }
      var isFolder = false
      guard FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder),
        !isFolder
      else { return nil }
      let file = name.split(separator: "/").last.map(String.init) ?? name
      return ("\(folder)/\(name)", file.prefix(file.count - own.count - 1) + ending)
    }
  }

  /// Reads one file as a source.
  static func read(file path: String) -> Result<SourceFile, UnreadableFile> {
    text(of: path, bytesMax: fileBytesMax, cure: "make it smaller")
      .map { SourceFile(path: path, text: $0) }
  }

  /// Reads the schema file.
  static func read(schema path: String, bytesMax: Int) -> Result<SourceFile, UnreadableFile> {
    guard FileManager.default.fileExists(atPath: path) else {
      return .failure(
        UnreadableFile(
          "the file does not exist; `larder schema pull` fetches the schema from upstream", path))
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

  /// The ending of operations' files.
  private static let ending = ".graphql"

  static func paths(below folder: String) -> [String] {
    names(below: folder).filter { $0.hasSuffix(ending) }.map { "\(folder)/\($0)" }
  }

  /// The names of everything below a folder that is not hidden.
  private static func names(below folder: String) -> [String] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in !name.split(separator: "/").contains { $0.hasPrefix(".") } }
      .sorted()
  }

  /// - Parameter cure: the remedy for a file that is too large.
  private static func text(
    of path: String, bytesMax: Int, cure: String
  ) -> Result<String, UnreadableFile> {
    let manager = FileManager.default
    var isFolder = false
    guard manager.fileExists(atPath: path, isDirectory: &isFolder) else {
      return .failure(UnreadableFile("is a link to a missing file", path))
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

/// The file of local types, if it exists.
struct LocalFile {
  /// Nil if there is no such file.
  let source: SourceFile?
  let schema: LocalSchema
  let views: [EntityView]

  /// - Returns: nil for the file if it has faults; an empty one if it does not exist.
  static func read(
    _ settings: Settings, beside registry: OperationRegistry
  ) -> (file: LocalFile?, findings: [Finding]) {
    guard FileManager.default.fileExists(atPath: settings.localFile) else {
      return (LocalFile(source: nil, schema: .none, views: []), [])
    }
    switch OperationFiles.read(file: settings.localFile) {
    case .failure(let unreadable):
      return (nil, [unreadable.finding])
    case .success(let file):
      var reader = LocalSchemaReader(
        catalogue: registry.catalogue, viewNames: Set(registry.views.keys),
        views: registry.views, outline: registry.outline)
      let (schema, findings) = reader.read(file)
      return (
        schema.map {
          LocalFile(source: file, schema: $0.applying(settings.types), views: reader.views)
        },
        findings
      )
    }
  }
}

extension LocalSchema {
  /// The types with their indexes, search fields and date formats from settings.
  fileprivate func applying(_ settings: [String: TypeSettings]) -> LocalSchema {
    with(
      types: types.mapValues { type in
        guard let own = settings[type.name] else { return type }
        return type.with(
          indexes: own.index, search: own.search, dates: own.dates ?? .iso8601)
      },
      extensions: extensions.mapValues { parts in parts.map { $0.searching(settings) } })
  }
}

extension LocalType {
  /// Returns a part of an upstream type with its own fields among the type's search fields.
  fileprivate func searching(_ settings: [String: TypeSettings]) -> LocalType {
    let search = extended.flatMap { settings[$0]?.search } ?? []
    let texts = entityType.columns.filter { $0.kind == .text && $0.dates == nil }.map(\.name)
    return with(indexes: [], search: search.filter(texts.contains), dates: .iso8601)
  }
}
