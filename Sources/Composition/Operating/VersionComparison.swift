import FoundationEssentials
import Generation
import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Upstream

/// `check --against`: what changed for clients since an old version of the operations.
package struct VersionComparison {
  /// The output of a comparison.
  package struct Report: Sendable {
    package let text: String
    package let isBreaking: Bool
    /// The same for programs.
    let document: JSONValue
  }

  /// Maximum size of an OpenAPI document.
  private static let documentBytesMax = 64 << 20
  /// Schemas of responses nest as deep as selections, with a few levels of JSON each.
  private static let documentDepthMax = 512

  private static let documentValuesMax = 10_000_000
  private static let documentLimits = JSONLimits(
    depthMax: documentDepthMax, bytesMax: documentBytesMax, valuesMax: documentValuesMax)

  private let present: Workspace
  private let path: String
  private let flags: [SettingsSources.Flag]

  /// - Parameters:
  ///   - present: opened with its interface described.
  ///   - path: the folder of the old version, or a file with its OpenAPI document.
  ///   - flags: settings of the command line, which apply to both versions except for paths.
  package init(_ present: Workspace, against path: String, flags: [SettingsSources.Flag]) {
    self.present = present
    self.path = path
    self.flags = flags
  }

  package func run() async throws -> Report {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw StartFailure(
        .noInput,
        "--against \(path) does not exist. Name a folder with an old version, or its saved /openapi.json."
      )
    }
    let changes = isFolder ? try againstFolder() : try await againstDocument()
    return Report(
      text: changes.report(against: path), isBreaking: changes.isBreaking,
      document: changes.document(against: path))
  }

  // MARK: A folder

  private func againstFolder() throws(StartFailure) -> InterfaceChanges {
    let old: Workspace
    do throws(StartFailure) {
      old = try Workspace.open(try oldSettings(), describesInterface: true)
    } catch {
      throw StartFailure(
        error.kind, "The old version in \(path) cannot be read:\n\(error.description)")
    }
    return OperationComparison.changes(from: Self.version(old), to: Self.version(present))
  }

  private static func version(_ workspace: Workspace) -> OperationComparison.Version {
    OperationComparison.Version(
      operations: workspace.registry.operations,
      interface: (workspace.registry.interface ?? ClientInterface()).adding(workspace.local))
  }

  /// The settings that say where files are; those of the old version are its own.
  private static let places: Set<String> = [
    "data", "local", "operations", "public", "schema", "schemas",
  ]

  /// The settings of the old version: of the folder's own `larder.yaml`; without one, of that beside the folder,
  /// which then has only operations; else the present ones.
  private func oldSettings() throws(StartFailure) -> LoadedSettings {
    let folder = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    let manager = FileManager.default
    func sources(_ file: String?, _ more: [SettingsSources.Flag]) throws(SettingsFaults)
      -> SettingsSources
    {
      var sources = try SettingsSources.read(path: file, flags: [])
      // The environment and the flags are of the present version; credentials in them decide who can call.
      for place in Self.places {
        sources.environment[EnvironmentNames.variable(for: [place[...]])] = nil
      }
      sources.flags = flags.filter { !Self.places.contains($0.setting) } + more
      return sources
    }
    let settings: SettingsSources
    do throws(SettingsFaults) {
      let own = "\(folder)/\(SettingsSources.defaultFileName)"
      if manager.fileExists(atPath: own) {
        settings = try sources(own, [])
      } else {
        let parent = FolderPath.folder(of: folder)
        let beside = "\(parent)/\(SettingsSources.defaultFileName)"
        let schema = "\(parent)/schema.graphql"
        let here = FileManager.default.currentDirectoryPath
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(here)/\(path)" }
        settings = try sources(
          manager.fileExists(atPath: beside) ? beside : nil,
          [
            SettingsSources.Flag("operations", spelling: "--against", value: absolute(folder)),
            SettingsSources.Flag(
              "schema", spelling: "--against",
              value: absolute(
                manager.fileExists(atPath: schema) ? schema : present.settings.schemaFile)),
          ])
      }
      return try Settings.load(from: settings)
    } catch {
      throw StartFailure(.faultySettings, error.description)
    }
  }

  // MARK: A document

  private func againstDocument() async throws -> InterfaceChanges {
    guard let data = FileManager.default.contents(atPath: path),
      data.count <= Self.documentBytesMax
    else {
      throw StartFailure(
        .noInput,
        "--against \(path) cannot be read, or is larger than \(Self.documentBytesMax) bytes.")
    }
    let old: JSONValue
    do throws(JSONParseError) {
      old = try JSONValue(
        parsing: Array(data), limits: Self.documentLimits)
    } catch {
      throw StartFailure(
        .faultyOperations,
        "--against \(path) is not JSON: \(error). Save the old version's document: "
          + "curl -s http://127.0.0.1:8080/openapi.json > openapi.json")
    }
    guard old["paths"]?.members != nil else {
      throw StartFailure(
        .faultyOperations, "--against \(path) is no OpenAPI document: it has no `paths`.")
    }
    let target = isFull(old) ? "/openapi.json?full" : "/openapi.json"
    let response = try await TemporaryService.run(present) { service in
      try await service.request(target)
    }
    guard response.status == .ok else {
      throw StartFailure(
        .faultyOperations,
        "The present OpenAPI document cannot be made (status \(response.status.code)).")
    }
    let new = try JSONValue(parsing: response.body, limits: Self.documentLimits)
    return OpenAPIComparison.changes(from: old, to: new)
  }

  /// Whether a document has the path by name of an operation with a path of its own, which only the full
  /// document lists.
  private func isFull(_ document: JSONValue) -> Bool {
    let names = Set((document["paths"]?.members ?? []).map(\.name))
    return present.registry.operations.contains {
      $0.route != nil && names.contains("/v1/operations/\($0.name)")
    }
  }
}
