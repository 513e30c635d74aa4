import FoundationEssentials
package import Model
package import Upstream

/// The settings, schema and operations, read and checked, which `check`, `routes` and `serve` share.
package struct Workspace: Sendable {
  package let loaded: LoadedSettings
  package let registry: OperationRegistry
  /// The local types, which the registry's catalogue includes.
  package let local: LocalSchema
  /// The relationships that settings define.
  package let links: [EntityLink]
  package let warnings: [Finding]
  /// The digest of operations, schemas and local types, see ``WorkspaceDigest``; nil on a single machine, which
  /// has nothing to compare it with.
  package var digest: String?

  package var settings: Settings { loaded.settings }

  /// Reads settings without operations.
  package static func settings(
    path: String?, flags: [SettingsSources.Flag], requiring: [String] = []
  ) throws(StartFailure) -> LoadedSettings {
    do throws(SettingsFaults) {
      let sources = try SettingsSources.read(path: path, flags: flags)
      return try Settings.load(from: sources, requiring: requiring)
    } catch {
      throw StartFailure(
        .faultySettings, error.description, faults: error.faults.map(Finding.init))
    }
  }

  /// Reads and checks everything.
  ///
  /// - Parameter describesInterface: whether the registry describes what clients send and receive.
  package static func open(
    _ loaded: LoadedSettings, describesInterface: Bool = false
  ) throws(StartFailure) -> Workspace {
    // Documents have digests.
    if let fault = StartFailure.missingAlgorithms() { throw fault }
    let settings = loaded.settings
    let reading = UpstreamFiles.read(settings, describesInterface: describesInterface)
    let unreadable = reading.findings.filter { $0.severity == .fault }
    // Operations cannot be checked without a schema. An unreadable file must not hide the faults of the
    // others.
    guard !reading.sources.isEmpty else { throw failure(reading.findings, loaded) }
    let result = OperationRegistry.load(reading.sources)
    guard unreadable.isEmpty, let registry = result.registry else {
      throw failure(reading.findings + result.faults, loaded)
    }
    var findings = reading.findings + result.findings
    if registry.operations.isEmpty {
      findings.append(
        Finding(
          severity: .warning,
          message: "contains no operation, so no path of yours is served; write one, or "
            + OperationFiles.beginning,
          path: settings.operationsFolder))
    }
    let local = LocalFile.read(settings, beside: registry)
    findings += local.findings
    guard let file = local.file else {
      throw failure(local.findings.filter { $0.severity == .fault }, loaded)
    }
    let whole = registry.adding(file.schema, views: file.views)
    let links = LinksCheck(loaded: loaded, catalogue: whole.catalogue)
    var check = TypeSettingsCheck(
      loaded: loaded, catalogue: whole.catalogue, local: file.schema, links: links.links)
    check.run()
    let hooks = HooksCheck(settings: settings.hooks, outline: whole.outline)
    let outgoing = HooksOutCheck(settings: settings, registry: whole, local: file.schema)
    let standing = settings.allUpstreams.map { StandingCheck(upstream: $0, registry: whole) }
    let faults =
      check.faults + links.faults
      + PushRulesCheck(rules: settings.push.rules, catalogue: whole.catalogue).faults
      + standing.flatMap(\.faults) + hooks.faults + outgoing.faults
    guard faults.isEmpty else {
      throw StartFailure(
        .faultySettings, SettingsFaults(faults, shownIn: loaded.excerpt).description,
        faults: faults.map(Finding.init))
    }
    let warnings =
      findings.filter { $0.severity == .warning } + check.warnings + standing.flatMap(\.warnings)
      + hooks.warnings
    return Workspace(
      loaded: loaded, registry: whole.adding(check.indexes), local: file.schema, links: links.links,
      warnings: warnings.map(loaded.placing),
      digest: settings.cluster.isOn
        ? WorkspaceDigest.text(of: reading.sources, local: file.source, settings: settings) : nil)
  }

  /// Faults of settings alone are a fault of the settings, whatever shows them.
  private static func failure(_ findings: [Finding], _ loaded: LoadedSettings) -> StartFailure {
    let faults = findings.filter { $0.severity == .fault }
    let count = faults.count.counted("fault")
    let isOfSettings = !faults.isEmpty && faults.allSatisfy { $0.setting != nil }
    return StartFailure(
      isOfSettings ? .faultySettings : .faultyOperations,
      findings.map { loaded.placing($0).report }.joined(separator: "\n") + "\n\(count)",
      faults: faults.map(loaded.placing),
      warnings: findings.filter { $0.severity == .warning }.map(loaded.placing))
  }
}
