import GraphQL
import Upstream

/// The operations and fragments of a manifest of persisted documents, as files of their own.
struct ManifestDrafts {
  /// The folder of fragments within that of operations.
  private static let fragmentsFolder = "fragments"

  private(set) var operations: [DraftedOperation] = []
  /// The texts of fragments by file name.
  private(set) var fragments: [String: String] = [:]
  private(set) var omitted: [OmittedField] = []
  /// Faults of the manifest itself; nothing is drafted with one.
  private(set) var faults: [Finding] = []

  private var known: [String: FragmentDefinition] = [:]
  private var names: Set<String> = []
  /// In lower case.
  private var fileNames: Set<String> = []

  init(_ file: SourceFile) {
    let (documents, findings) = DocumentManifest.read(file)
    faults = findings.filter { $0.severity == .fault }
    guard faults.isEmpty else { return }
    for document in documents { read(document) }
  }

  private mutating func read(_ file: SourceFile) {
    let (document, faults) = Parser.parseRecovering(Source(name: file.path, body: file.text))
    let operation = document.operations.first
    let name = operation?.name?.value ?? file.documentID.map { "document \($0)" } ?? file.path
    let kind = operation?.operation ?? .query
    func omit(_ reason: String) {
      omitted.append(OmittedField(kind: kind, field: name, reason: reason))
    }
    if let fault = faults.first { return omit("it cannot be parsed: \(fault.message)") }
    guard let operation, document.operations.count == 1 else {
      return omit("its document has \(document.operations.count) operations, not one")
    }
    guard operation.name != nil else { return omit("it has no name") }
    guard !names.contains(name) else {
      return omit("another document of the manifest has an operation of this name")
    }
    let own = document.fragments
    if let other = own.first(where: { known[$0.name.value] ?? $0 != $0 }) {
      return omit("its fragment \(other.name) differs from that of another document")
    }
    names.insert(name)
    for fragment in own where known[fragment.name.value] == nil {
      known[fragment.name.value] = fragment
      let path = fileName(fragment.name.value, in: "\(Self.fragmentsFolder)/")
      fragments[path] = Printer.print(.fragment(fragment)) + "\n"
    }
    operations.append(
      DraftedOperation(
        name: name, kind: kind, field: name, route: nil, fileName: fileName(name, in: ""),
        text: Self.comments(kind) + Printer.print(.operation(operation)) + "\n",
        isList: false,
        needsNoVariable: operation.variableDefinitions.allSatisfy {
          !$0.type.isNonNull || $0.defaultValue != nil
        },
        sizeVariable: nil, lookup: nil, typeName: ""))
  }

  private mutating func fileName(_ name: String, in folder: String) -> String {
    var path = "\(folder)\(name)"
    var number = 2
    // A name has no hyphen.
    while !fileNames.insert(path.lowercased()).inserted {
      path = "\(folder)\(name)-\(number)"
      number += 1
    }
    return "\(path).graphql"
  }

  private static func comments(_ kind: OperationType) -> String {
    guard kind == .query else { return "" }
    return """
      # Add `@route(path: "…")` for a path of its own below /api, and @cache, without which it is fetched each
      # time: @cache(\(OperationText.windows))

      """
  }
}
