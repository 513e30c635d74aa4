import GraphQL
import Model
import Upstream

/// The check of drafted operations, without files: those with faults are left out.
struct DraftCheck {
  private(set) var operations: [DraftedOperation]
  /// Texts of fragments by file name.
  private(set) var fragments: [String: String]
  private(set) var omitted: [OmittedField] = []

  /// - Parameter schema: as SDL.
  /// - Throws: a failure if the schema itself has faults, or no operation is left.
  init(
    _ operations: [DraftedOperation], fragments: [String: String], schema: SourceFile,
    settings: RegistrySettings
  ) throws(StartFailure) {
    self.operations = operations
    self.fragments = fragments
    var registry: OperationRegistry?
    while true {
      let loaded = OperationRegistry.load(
        files: files, schemaSources: [schema], settings: settings)
      registry = loaded.registry
      let faults = loaded.faults
      if faults.isEmpty { break }
      let count = self.operations.count + self.fragments.count
      remove(faults)
      guard self.operations.count + self.fragments.count < count else {
        throw StartFailure(
          .faultyOperations,
          "The schema has faults:\n" + faults.prefix(20).map(\.report).joined(separator: "\n")
            + "\nNothing was written. Give a corrected schema with --schema FILE.")
      }
    }
    guard !self.operations.isEmpty else {
      let lines = omitted.map { "  \($0.line)" }
      throw StartFailure(
        .faultyOperations,
        (["No operation can be written, so nothing was."] + lines).joined(separator: "\n"))
    }
    addLookups(registry, schema, settings)
  }

  /// Adds `@cache(lookup:)` where the store can answer a query while upstream is unavailable.
  private mutating func addLookups(
    _ registry: OperationRegistry?, _ schema: SourceFile, _ settings: RegistrySettings
  ) {
    let plain = operations
    for index in operations.indices {
      guard let target = registry?.operation(named: operations[index].name)?.lookupProposal
      else { continue }
      operations[index] = operations[index].looking(up: target)
    }
    let faults = OperationRegistry.load(
      files: files, schemaSources: [schema], settings: settings
    ).faults
    if !faults.isEmpty { operations = plain }
  }

  private var files: [SourceFile] {
    operations.map { SourceFile(path: $0.fileName, text: $0.text) }
      + fragments.sorted { $0.key < $1.key }.map { SourceFile(path: $0.key, text: $0.value) }
  }

  /// The registry of some of the operations, for a trial.
  func registry(
    of chosen: [DraftedOperation], schema: SourceFile, settings: RegistrySettings
  ) -> OperationRegistry? {
    let files =
      chosen.map { SourceFile(path: $0.fileName, text: $0.text) }
      + fragments.map { SourceFile(path: $0.key, text: $0.value) }
    return OperationRegistry.load(
      files: files, schemaSources: [schema], settings: settings
    ).registry
  }

  private mutating func remove(_ faults: [Finding]) {
    // The first fault of each file.
    let reasons = Dictionary(
      faults.map { ($0.path, $0.message) }, uniquingKeysWith: { first, _ in first })
    for operation in operations {
      guard let reason = reasons[operation.fileName] else { continue }
      omitted.append(
        OmittedField(kind: operation.kind, field: operation.field, reason: reason))
    }
    operations.removeAll { reasons[$0.fileName] != nil }
    fragments = fragments.filter { reasons[$0.key] == nil }
  }
}

extension DraftedOperation {
  /// Returns the draft with a target in its `@cache`, if it has one that was drafted.
  fileprivate func looking(up target: String) -> DraftedOperation {
    let windows = OperationText.windows
    var draft = self
    draft.text = text.replacing(
      "@cache(\(windows))", with: "@cache(\(windows), lookup: \"\(target)\")", maxReplacements: 1)
    return draft
  }
}
