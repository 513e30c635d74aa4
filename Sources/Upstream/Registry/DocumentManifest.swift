import GraphQL
import LosslessJSON

/// A manifest of persisted documents, as the tools of GraphQL clients write it.
///
/// Two forms are read: Apollo's `apollo-persisted-query-manifest`, and an object whose members are
/// ids and documents, which the compiler of Relay (`persisted_queries.json`) and graphql-codegen
/// (`persisted-documents.json`) write. Each document has one operation and the fragments it uses.
package enum DocumentManifest {
  /// The value of `format` in Apollo's manifests.
  static let apolloFormat = "apollo-persisted-query-manifest"
  /// The maximum length of an id in UTF-8 bytes; those of the tools have 32 to 64.
  static let idBytesMax = 256
  /// The maximum number of documents.
  static let documentsMax = 20_000

  /// Reads a manifest.
  ///
  /// - Returns: a source for each document, whose path is the manifest's with a JSON pointer, and
  ///   all faults.
  package static func read(_ file: SourceFile) -> (files: [SourceFile], findings: [Finding]) {
    var reading = Reading(file: file)
    reading.read()
    return (reading.files, reading.findings)
  }

  private struct Reading {
    let file: SourceFile
    let source: Source
    var files: [SourceFile] = []
    var findings: [Finding] = []
    /// The pointers of the ids read so far.
    private var seen: [String: String] = [:]

    init(file: SourceFile) {
      self.file = file
      source = Source(name: file.path, body: file.text)
    }

    mutating func read() {
      let document: JSONDocument
      do throws(JSONParseError) {
        document = try JSONDocument(text: file.text)
      } catch {
        return fault("is not JSON: \(error)", from: error.offset)
      }
      let root = document.root
      guard root.kind == .object else {
        return fault("must be a JSON object: a manifest of Apollo, Relay or graphql-codegen.")
      }
      if let format = root["format"], root["operations"] != nil || root.count == 1 {
        readApollo(root, format: format)
      } else {
        readMap(root)
      }
      if files.isEmpty, findings.isEmpty { fault("lists no operation.") }
    }

    private mutating func fault(_ message: String, from offset: Int = 0) {
      findings.append(
        Finding(.fault, message, at: Location(source: source, start: offset, end: offset)))
    }

    private mutating func fault(_ message: String, at node: JSONNode) {
      fault(message, from: node.range.lowerBound)
    }

    private mutating func readApollo(_ root: JSONNode, format: JSONNode) {
      guard format.string == DocumentManifest.apolloFormat else {
        return fault(
          "`format` must be \"\(DocumentManifest.apolloFormat)\".", at: format)
      }
      if let version = root["version"], version.int64 != 1 {
        return fault("`version` must be 1; no other version is known.", at: version)
      }
      guard let operations = root["operations"], operations.kind == .array else {
        return fault("`operations` must be a list.", at: root["operations"] ?? root)
      }
      for (index, entry) in operations.elements.enumerated() {
        let pointer = "/operations/\(index)"
        guard entry.kind == .object else {
          fault("\(pointer) must be an object with `id` and `body`.", at: entry)
          continue
        }
        guard let id = entry["id"], id.kind == .string else {
          fault("\(pointer) has no `id`, or one that is not a string.", at: entry)
          continue
        }
        guard let body = entry["body"], body.kind == .string else {
          fault("\(pointer) has no `body`, or one that is not a string.", at: entry)
          continue
        }
        add(
          body, id: id, pointer: "\(pointer)/body",
          declared: DeclaredOperation(name: entry["name"]?.string, kind: entry["type"]?.string))
      }
    }

    private mutating func readMap(_ root: JSONNode) {
      for member in root.members {
        let pointer = "/\(Self.escaped(member.name))"
        guard member.value.kind == .string else {
          fault("\(pointer) must be the text of a document.", at: member.value)
          continue
        }
        add(member.value, id: member.nameNode, pointer: pointer)
      }
    }

    private mutating func add(
      _ body: JSONNode, id node: JSONNode, pointer: String, declared: DeclaredOperation? = nil
    ) {
      guard let id = node.string, let text = body.string else {
        return fault("\(pointer) is not valid Unicode.", at: body)
      }
      guard (1...DocumentManifest.idBytesMax).contains(id.utf8.count),
        !id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
      else {
        return fault(
          "the id at \(pointer) must have 1 to \(DocumentManifest.idBytesMax) bytes and no control "
            + "character.", at: node)
      }
      if let other = seen[id] {
        return fault("the id \"\(id)\" at \(pointer) is already used at \(other).", at: node)
      }
      seen[id] = pointer
      guard files.count < DocumentManifest.documentsMax else {
        if files.count == DocumentManifest.documentsMax, findings.isEmpty {
          fault("lists more than \(DocumentManifest.documentsMax) operations.", at: node)
        }
        return
      }
      files.append(
        SourceFile(
          path: "\(file.path)#\(pointer)", text: text, documentID: id, declared: declared))
    }

    /// A member's name in a JSON pointer (RFC 6901 section 3).
    private static func escaped(_ name: String) -> String {
      name.replacing("~", with: "~0").replacing("/", with: "~1")
    }
  }
}

/// The fragments of a manifest's documents: each document repeats those it uses, and they are
/// registered once.
struct ManifestFragments {
  private(set) var findings: [Finding] = []
  private var known: [String: FragmentDefinition] = [:]

  /// Returns the document without the fragments that an earlier document of the manifest has.
  ///
  /// - Parameter isWhole: whether the whole document could be parsed. Otherwise its faults are reported
  ///   already, and its operation can be in the rest.
  mutating func reduce(_ document: Document, of file: SourceFile, isWhole: Bool) -> Document {
    guard file.documentID != nil else { return document }
    let operations = document.operations.count
    if operations != 1, isWhole {
      findings.append(
        Finding(
          severity: .fault,
          message: "A document of a manifest must have exactly one operation; this one has "
            + "\(operations).", path: file.path))
    }
    if operations == 1, let operation = document.operations.first, let declared = file.declared {
      compare(operation, with: declared)
    }
    var reduced = document
    reduced.definitions.removeAll { definition in
      guard case .fragment(let fragment) = definition else { return false }
      return isKnown(fragment)
    }
    return reduced
  }

  /// Warns of a name or kind that is not that of the document, which is the one that counts: the manifest
  /// was not written by a tool.
  private mutating func compare(
    _ operation: OperationDefinition, with declared: DeclaredOperation
  ) {
    if let name = declared.name, let own = operation.name, name != own.value {
      findings.append(
        Finding(
          .warning,
          "The manifest names this operation \(name), but the document names it \(own.value), which "
            + "is its name here.", at: own.location))
    }
    let kind = operation.operation.rawValue
    if let other = declared.kind, other != kind {
      findings.append(
        Finding(
          .warning, "The manifest calls this operation a \(other), but it is a \(kind).",
          at: operation.location))
    }
  }

  private mutating func isKnown(_ fragment: FragmentDefinition) -> Bool {
    let name = fragment.name.value
    guard let other = known[name] else {
      known[name] = fragment
      return false
    }
    if other != fragment {
      let place = other.location.source.map { " in \($0.name)" } ?? ""
      findings.append(
        Finding(
          .fault,
          "The fragment \(name) differs from the one of the same name\(place). Write the manifest "
            + "again from one version of the operations.", at: fragment.location))
    }
    return true
  }
}
