import FoundationEssentials
package import Generation
import Model
import Upstream

/// The `generate` command: writes the types of a client's entities and operations, or compares them with
/// those of a folder.
package struct GenerateCommand {
  /// The output of a run.
  package struct Report: Sendable {
    package let text: String
    /// Whether the folder has, or now has, exactly the generated files.
    package let isCurrent: Bool
  }

  private let loaded: LoadedSettings
  private let language: TargetLanguage
  private let folder: String
  private let isCheck: Bool

  /// - Parameters:
  ///   - folder: created if it does not exist, unless it is only checked.
  ///   - isCheck: whether to write nothing.
  package init(
    _ loaded: LoadedSettings, language: TargetLanguage, folder: String, isCheck: Bool
  ) {
    self.loaded = loaded
    self.language = language
    self.folder = folder
    self.isCheck = isCheck
  }

  /// - Throws: `usage` without a folder, `dataFolder` for one that cannot be used, or files that are not
  ///   overwritten, and `faultyOperations` for what cannot be generated from, `--check` or not.
  package func run() throws(StartFailure) -> Report {
    try checkPlace()
    let workspace = try Workspace.open(loaded, describesInterface: true)
    guard let described = workspace.registry.interface else {
      throw StartFailure(.faultyOperations, "There are no operations to generate code from.")
    }
    let interface = described.adding(workspace.local)
    guard interface.faults.isEmpty else {
      throw StartFailure(
        .faultyOperations, interface.faults.map(\.report).joined(separator: "\n"))
    }
    let settings = workspace.settings.generate
    let generator = CodeGenerator(
      interface, scalars: settings.scalars, package: settings.package)
    let files: [GeneratedFile]
    do throws(GenerationFaults) {
      files = try generator.files(language)
    } catch {
      throw StartFailure(.faultyOperations, error.description)
    }
    let comparison = OutputComparison(
      files, existing: try existing(besides: files), language: language)
    let notes = Self.notes(generator.unmappedScalars)
    guard !isCheck else {
      let end =
        comparison.isCurrent
        ? "\(folder) is up to date."
        : "\(folder) is not up to date; run `larder generate \(language.rawValue) --output \(folder)`."
      return Report(
        text: (notes + comparison.lines + [end]).joined(separator: "\n"),
        isCurrent: comparison.isCurrent)
    }
    try write(comparison)
    let written = comparison.unwritten.count
    let end =
      "\(files.count.counted("file")) in \(folder): \(written) written, "
      + "\(comparison.surplus.count) removed."
    return Report(text: (notes + [end]).joined(separator: "\n"), isCurrent: true)
  }

  private static func notes(_ scalars: [String]) -> [String] {
    guard !scalars.isEmpty else { return [] }
    return [
      "note: values of \(scalars.joined(separator: ", ")) are read as any JSON value; set their forms "
        + "with `generate.scalars`."
    ]
  }

  // MARK: Files

  /// Reports a folder that is no folder, or is inside of what is none.
  private func checkPlace() throws(StartFailure) {
    guard !folder.isEmpty else {
      throw StartFailure(.usage, "--output is empty; name a folder.")
    }
    var path = folder[...]
    var isFolder = false
    while !path.isEmpty,
      !FileManager.default.fileExists(atPath: String(path), isDirectory: &isFolder)
    {
      path = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    }
    guard !path.isEmpty, !isFolder else { return }
    throw StartFailure(.dataFolder, "\(path) is not a folder; choose another --output.")
  }

  /// The folder's files in the language, by name; nil for one that is no text, and for a link to another
  /// text than the generated one. A folder that does not exist has none.
  private func existing(
    besides generated: [GeneratedFile]
  ) throws(StartFailure) -> [String: String?] {
    let manager = FileManager.default
    let names: [String]
    do {
      names = try manager.contentsOfDirectory(atPath: folder)
    } catch let error as CocoaError
      where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile
    {
      return [:]
    } catch {
      throw StartFailure(
        .dataFolder, "The folder \(folder) cannot be read: \(Self.reason(error)).")
    }
    let wanted = Dictionary(
      generated.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
    var files: [String: String?] = [:]
    for name in names where name.hasSuffix(language.suffix) {
      let path = "\(folder)/\(name)"
      let text = manager.contents(atPath: path).flatMap { String(validating: $0, as: UTF8.self) }
      let isLink = (try? manager.destinationOfSymbolicLink(atPath: path)) != nil
      files.updateValue(isLink && text != wanted[name] ? nil : text, forKey: name)
    }
    return files
  }

  private func write(_ comparison: OutputComparison) throws(StartFailure) {
    guard comparison.foreign.isEmpty else {
      throw StartFailure(
        .dataFolder,
        comparison.foreign.map {
          "\(folder)/\($0) was not generated, or is a link, so it is not overwritten. Move it, or "
            + "choose another folder."
        }.joined(separator: "\n"))
    }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
      for file in comparison.unwritten {
        try Data(file.text.utf8).write(
          to: URL(filePath: "\(folder)/\(file.name)"), options: .atomic)
      }
      for name in comparison.surplus {
        try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
      }
    } catch {
      throw StartFailure(
        .dataFolder, "The folder \(folder) cannot be written: \(Self.reason(error)).")
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoPermission, .fileWriteNoPermission: "permission is missing"
    case .fileWriteOutOfSpace: "the disk is full"
    case .fileWriteVolumeReadOnly: "the disk is read-only"
    case .fileNoSuchFile: "it cannot be created there"
    case .fileWriteFileExists: "a link to nothing is in its place"
    case let code?: "it failed with the code \(code.rawValue)"
    case nil: "\(error)"
    }
  }
}
