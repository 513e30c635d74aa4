import FoundationEssentials
package import Model
package import Upstream

/// The settings, schema and operations, read and checked, which `check`, `routes` and `serve` share.
package struct Workspace: Sendable {
  package let loaded: LoadedSettings
  package let registry: OperationRegistry
  /// The local types, which the registry's catalogue includes.
  package let local: LocalSchema
  package let warnings: [Finding]

  package var settings: Settings { loaded.settings }

  /// Reads settings without operations.
  package static func settings(
    path: String?, flags: [SettingsSources.Flag], requiring: [String] = []
  ) throws(StartFailure) -> LoadedSettings {
    do throws(SettingsFaults) {
      let sources = try SettingsSources.read(path: path, flags: flags)
      return try Settings.load(from: sources, requiring: requiring)
    } catch {
      throw StartFailure(.faultySettings, error.description)
    }
  }

  /// Reads and checks everything.
  ///
  /// - Parameter pulledSchema: the schema from introspection, if there is no schema file.
  package static func open(
    _ loaded: LoadedSettings, pulledSchema: SourceFile? = nil
  ) throws(StartFailure) -> Workspace {
    let settings = loaded.settings
    var (files, findings) = OperationFiles.read(folder: settings.operationsFolder)
    var schema: [SourceFile] = []
    if let pulledSchema {
      schema = [pulledSchema]
    } else {
      switch OperationFiles.read(
        schema: schemaPath(of: settings), bytesMax: settings.schemaBytesMax)
      {
      case .success(let file): schema = [file]
      case .failure(let unreadable): findings.append(unreadable.finding)
      }
    }
    // Operations cannot be checked without a schema. An unreadable file must not hide the faults of the
    // others.
    guard !schema.isEmpty, !files.isEmpty else { throw failure(findings) }
    let result = OperationRegistry.load(
      files: files, schemaSources: schema, settings: RegistrySettings(settings))
    guard findings.isEmpty, let registry = result.registry else {
      throw failure(findings + result.faults)
    }
    findings = result.findings
    let local = LocalFile.read(settings, beside: registry)
    findings += local.findings
    guard let file = local.file else {
      throw failure(local.findings.filter { $0.severity == .fault })
    }
    let whole = registry.adding(file.schema, views: file.views)
    var check = TypeSettingsCheck(
      loaded: loaded, catalogue: whole.catalogue, local: file.schema)
    check.run()
    let faults =
      check.faults
      + PushRulesCheck(rules: settings.push.rules, catalogue: whole.catalogue).faults
    guard faults.isEmpty else {
      throw StartFailure(.faultySettings, SettingsFaults(faults).description)
    }
    return Workspace(
      loaded: loaded, registry: whole, local: file.schema,
      warnings: findings.filter { $0.severity == .warning } + check.warnings)
  }

  /// The path of the schema file, or of the copy from the last introspection.
  package static func schemaPath(of settings: Settings) -> String {
    let kept = DataFolder(path: settings.dataFolder).schemaPath
    let manager = FileManager.default
    return manager.fileExists(atPath: settings.schemaFile) || !manager.fileExists(atPath: kept)
      ? settings.schemaFile : kept
  }

  /// Whether there is a schema without introspecting upstream.
  package static func hasSchema(_ settings: Settings) -> Bool {
    FileManager.default.fileExists(atPath: schemaPath(of: settings))
  }

  private static func failure(_ findings: [Finding]) -> StartFailure {
    let count = findings.count == 1 ? "1 fault" : "\(findings.count) faults"
    return StartFailure(
      .faultyOperations, findings.map(\.report).joined(separator: "\n") + "\n\(count)")
  }
}
