/// What reading the operations gave.
package struct LoadedRegistry: Sendable {
  /// Nil if any finding is a fault.
  package let registry: OperationRegistry?
  /// All of them at once, in the order of files and lines.
  package let findings: [Finding]

  package var faults: [Finding] { findings.filter { $0.severity == .fault } }
  package var warnings: [Finding] { findings.filter { $0.severity == .warning } }
}

extension OperationRegistry {
  /// Reads and checks operations against a schema. No file is opened here.
  ///
  /// - Parameters:
  ///   - files: the operations' documents; fragments are shared between them.
  ///   - schemaSources: the upstream schema as SDL, in one or more texts.
  package static func load(
    files: [SourceFile], schemaSources: [SourceFile], settings: RegistrySettings
  ) -> LoadedRegistry {
    var loader = RegistryLoader(settings: settings)
    return loader.load(files: files, schemaSources: schemaSources)
  }
}
