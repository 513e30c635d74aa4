import FoundationEssentials
import GraphQL
import Model
import Upstream

/// The operations and schemas of all upstreams, as files.
enum UpstreamFiles {
  /// - Returns: the sources of each upstream, and findings for files that could not be read; no
  ///   sources if there is nothing to check.
  static func read(
    _ settings: Settings, describesInterface: Bool = false
  ) -> (sources: [UpstreamSources], findings: [Finding]) {
    var sources: [UpstreamSources] = []
    var findings = strays(settings)
    var isComplete = true
    let schemas = strayNames(in: settings.schemasFolder, settings)
    for upstream in settings.allUpstreams {
      let folder = OperationFiles.read(operations: operationsFolder(of: upstream, settings))
      findings += folder.findings
      var schema: [SourceFile] = []
      switch OperationFiles.read(
        schema: schemaPath(of: upstream, settings), bytesMax: settings.schemaBytesMax)
      {
      case .success(let file): schema = [file]
      case .failure(let unreadable):
        let hint =
          upstream.name == .sole || hasSchema(of: upstream, settings)
          ? "" : NearestNames.didYouMean("\(upstream.name).graphql", among: schemas)
        findings.append(unreadable.finding.adding(hint))
      }
      isComplete = isComplete && !folder.files.isEmpty && !schema.isEmpty
      sources.append(
        UpstreamSources(
          files: folder.files, schemaSources: schema,
          settings: RegistrySettings(
            settings, upstream, describesInterface: describesInterface)))
    }
    let isSole = settings.upstreams.isEmpty
    return (isSole && !isComplete ? [] : sources, findings)
  }

  /// The folder of an upstream's operations.
  static func operationsFolder(of upstream: NamedUpstream, _ settings: Settings) -> String {
    upstream.name == .sole
      ? settings.operationsFolder : "\(settings.operationsFolder)/\(upstream.name)"
  }

  /// The path of an upstream's schema file.
  static func schemaFile(of upstream: NamedUpstream, _ settings: Settings) -> String {
    upstream.name == .sole
      ? settings.schemaFile : "\(settings.schemasFolder)/\(upstream.name).graphql"
  }

  /// The path of an upstream's schema file, or of the copy from the last introspection.
  static func schemaPath(of upstream: NamedUpstream, _ settings: Settings) -> String {
    let own = schemaFile(of: upstream, settings)
    let kept = DataFolder(path: settings.dataFolder).schemaPath(of: upstream.name)
    let manager = FileManager.default
    return manager.fileExists(atPath: own) || !manager.fileExists(atPath: kept) ? own : kept
  }

  /// Whether there is a schema without introspecting the upstream.
  static func hasSchema(of upstream: NamedUpstream, _ settings: Settings) -> Bool {
    FileManager.default.fileExists(atPath: schemaPath(of: upstream, settings))
  }

  /// Files beside the folders of several upstreams, which no upstream would run.
  private static func strays(_ settings: Settings) -> [Finding] {
    guard !settings.upstreams.isEmpty else { return [] }
    let folders = settings.allUpstreams.map { operationsFolder(of: $0, settings) + "/" }
    let names = settings.allUpstreams.map(\.name.text)
    return OperationFiles.paths(below: settings.operationsFolder)
      .filter { path in !folders.contains { path.hasPrefix($0) } }
      .map { path in
        let parts = path.dropFirst(settings.operationsFolder.count + 1).split(separator: "/")
        let near =
          parts.count < 2
          ? nil : NearestNames.suggestions(for: String(parts[0]), among: names).first
        let folder = near.map { "\(settings.operationsFolder)/\($0)/" } ?? folders.first ?? ""
        return Finding(
          severity: .fault,
          message: near == nil
            ? "belongs to no upstream; move it into the folder of one, such as \(folder)"
            : "belongs to no upstream; did you mean the folder \(folder)?",
          path: path)
      }
  }

  /// The names of the schema files that no upstream has.
  private static func strayNames(in folder: String, _ settings: Settings) -> [String] {
    guard !settings.upstreams.isEmpty else { return [] }
    let own = Set(settings.allUpstreams.map { "\($0.name).graphql" })
    return OperationFiles.paths(below: folder).map { String($0.dropFirst(folder.count + 1)) }
      .filter { !own.contains($0) }
  }
}

extension Finding {
  /// Returns the finding with a further sentence.
  fileprivate func adding(_ text: String) -> Finding {
    guard !text.isEmpty else { return self }
    return Finding(
      severity: severity, message: "\(message).\(text)", path: path, line: line, column: column,
      excerpt: excerpt, setting: setting)
  }
}
