import FoundationEssentials
import GraphQL
import Model
import Transport
import Upstream

/// The `schema pull` command: introspects upstreams and stores their schemas.
package struct SchemaPull {
  private let settings: Settings
  private let print: (String) -> Void
  private let isInteractive: Bool

  /// - Parameters:
  ///   - isInteractive: whether a terminal shows how long it waits.
  ///   - print: writes a line of output.
  package init(
    _ settings: Settings, isInteractive: Bool = false,
    print: @escaping (String) -> Void = StandardStreams.output
  ) {
    self.settings = settings
    self.isInteractive = isInteractive
    self.print = print
  }

  /// Writes schemas as SDL: to the path given, to standard output for `-`, or to the schema file that
  /// settings name. What changes is printed before a file is replaced.
  ///
  /// - Parameters:
  ///   - name: one of several upstreams; nil for all.
  ///   - isCheck: whether to write nothing.
  /// - Returns: whether all files have the present schema.
  @discardableResult
  package func run(
    upstream name: String? = nil, output: String?, isCheck: Bool = false
  ) async throws -> Bool {
    let upstreams = try upstreams(named: name)
    guard output == nil || upstreams.count == 1 else {
      throw StartFailure(
        .usage,
        "--output is for one schema, but there are several upstreams; choose one with --upstream.")
    }
    guard !isCheck || output != "-" else {
      throw StartFailure(.usage, "--check compares a file; it does not go with --output -.")
    }
    var isCurrent = true
    for upstream in upstreams {
      let text = try await introspection(of: upstream).sdl()
      if output == "-" {
        print(text)
        continue
      }
      let path = output ?? UpstreamFiles.schemaFile(of: upstream, settings)
      let comparison = SchemaFileComparison(path: path, present: text)
      if isCheck {
        print(comparison.checkReport)
        isCurrent = isCurrent && comparison.isCurrent
        continue
      }
      try makeFolder(of: path)
      for line in comparison.reportBeforeWriting { print(line) }
      try Self.write(text, to: path)
      print("schema written to \(path)")
    }
    return isCurrent
  }

  /// Introspects each upstream without a schema file, and keeps the schemas in the data folder for the
  /// next start.
  package func keepIfMissing() async throws {
    let missing = settings.allUpstreams.filter { !UpstreamFiles.hasSchema(of: $0, settings) }
    guard !missing.isEmpty else { return }
    let folder = DataFolder(path: settings.dataFolder)
    var failures: [StartFailure] = []
    for upstream in missing {
      do {
        let text = try await introspection(of: upstream).sdl()
        try folder.make()
        let path = folder.schemaPath(of: upstream.name)
        try makeFolder(of: path)
        try Self.write(text, to: path)
      } catch let failure as StartFailure {
        failures.append(failure)
      }
    }
    guard let first = failures.first else { return }
    throw StartFailure(first.kind, failures.map(\.description).joined(separator: "\n"))
  }

  private func introspection(of upstream: NamedUpstream) -> SchemaIntrospection {
    SchemaIntrospection(
      upstream, schemaBytesMax: settings.schemaBytesMax,
      remedies: SchemaIntrospection.Remedies(
        upstream, schemaFile: UpstreamFiles.schemaFile(of: upstream, settings)),
      isInteractive: isInteractive)
  }

  private func upstreams(named name: String?) throws(StartFailure) -> [NamedUpstream] {
    guard let name else { return settings.allUpstreams }
    let found = settings.allUpstreams.filter { $0.name.text == name }
    guard found.isEmpty else { return found }
    let names = settings.allUpstreams.map(\.name.text)
    throw StartFailure(
      .usage,
      "There is no upstream \(name) in settings." + NearestNames.didYouMean(name, among: names))
  }

  /// Creates the folder of a schema of one of several upstreams.
  private func makeFolder(of path: String) throws(StartFailure) {
    guard !settings.upstreams.isEmpty else { return }
    let folder = FolderPath.folder(of: path)
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw StartFailure(.dataFolder, "The folder \(folder) cannot be created: \(error)")
    }
  }

  private static func write(_ text: String, to path: String) throws(StartFailure) {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw StartFailure(.dataFolder, "The schema file \(path) cannot be written: \(error)")
    }
  }
}

/// A schema file beside the present schema of its upstream.
struct SchemaFileComparison {
  private enum State {
    case missing
    case identical
    /// The file cannot be read as a schema; the reason.
    case unreadable(String)
    case compared(SchemaChanges)
  }

  private let path: String
  private let state: State

  /// - Parameter present: the schema of upstream as SDL.
  init(path: String, present: String) {
    self.path = path
    state = Self.state(path, present)
  }

  private static func state(_ path: String, _ present: String) -> State {
    guard FileManager.default.fileExists(atPath: path) else { return .missing }
    switch OperationFiles.read(schema: path, bytesMax: .max) {
    case .failure(let unreadable): return .unreadable(unreadable.finding.message)
    case .success(let file):
      if file.text == present { return .identical }
      let (document, faults) = Parser.parseRecovering(Source(name: path, body: file.text))
      if let fault = faults.first { return .unreadable(fault.description) }
      let (now, _) = Parser.parseRecovering(Source(name: "upstream", body: present))
      return .compared(
        SchemaChanges(
          from: Schema.buildRecovering([document], tolerating: [.knownDirectives]).schema,
          to: Schema.buildRecovering([now], tolerating: [.knownDirectives]).schema))
    }
  }

  /// Whether the file has upstream's types. Descriptions, their order and directives make no difference.
  var isCurrent: Bool {
    switch state {
    case .identical: true
    case .compared(let changes): changes.isEmpty
    case .missing, .unreadable: false
    }
  }

  /// The report of `--check`.
  var checkReport: String {
    let remedy = "Run `larder schema pull`, then `larder check`."
    switch state {
    case .missing: return "\(path) does not exist. \(remedy)"
    case .unreadable(let reason): return "\(path) cannot be compared: \(reason)\n\(remedy)"
    case .identical: return "\(path) is up to date."
    case .compared(let changes) where changes.isEmpty: return "\(path) is up to date."
    case .compared(let changes):
      return "\(path) is not up to date. Since it was written, upstream's schema changed:\n"
        + "\(changes.report)\n\(remedy)"
    }
  }

  /// What is to be known before the file is replaced.
  var reportBeforeWriting: [String] {
    switch state {
    case .missing: []
    case .identical: ["no changes"]
    case .unreadable(let reason):
      ["note: the schema that is replaced cannot be compared: \(reason)"]
    case .compared(let changes):
      [changes.isEmpty ? "no changes but in descriptions or order" : changes.report]
        + lost(changes.lostDirectives)
    }
  }

  private func lost(_ directives: [String]) -> [String] {
    guard !directives.isEmpty else { return [] }
    return [
      "warning: these directives are not in upstream's introspection and are lost: "
        + "\(directives.joined(separator: ", ")). Instead of @key, set `types.<Type>.key` in the settings."
    ]
  }
}
