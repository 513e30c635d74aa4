import Cryptography
package import GraphQL
import Model

/// The normal form of a client's document: one operation and the fragments it uses, printed.
///
/// The operation comes first, then its fragments by name. Descriptions, comments, unused fragments
/// and Larder's own directives are omitted, so that a document has one normal form however its
/// client's tools print it. There is no line end after the last brace, as graphql-js prints it.
package struct NormalDocument: Sendable {
  package let text: String
  /// The name of the operation; nil for one without, which no registered document has.
  package let name: String?
  package let kind: OperationType
  /// Whether the text has no other operation.
  package let isAlone: Bool

  /// SHA-256 of ``text`` in lower-case hexadecimal digits.
  package var digest: String { DocumentDigest.hexadecimal(of: text) }

  /// Reads a client's text.
  ///
  /// - Parameter operationName: the operation to select, if the text has several.
  /// - Throws: ``Fault`` for a text without a usable operation.
  package init(parsing text: String, operationName: String?) throws(Fault) {
    let document: Document
    do throws(Faults) {
      document = try Parser.parse(Source(name: "query", body: text), limits: Self.limits)
    } catch {
      throw .syntax(error.all.first.map(Self.description) ?? "the document does not parse")
    }
    let operations = document.operations
    if let name = Self.repeated(operations.compactMap { $0.name?.value }) {
      throw .repeated("operations", name)
    }
    if let name = Self.repeated(document.fragments.map(\.name.value)) {
      throw .repeated("fragments", name)
    }
    if operations.count > 1, operations.contains(where: { $0.name == nil }) { throw .unnamed }
    guard let operationName else {
      guard operations.count <= 1 else { throw .ambiguous }
      guard let operation = operations.first else { throw .empty }
      self.init(operation, of: document)
      return
    }
    guard let operation = operations.first(where: { $0.name?.value == operationName }) else {
      throw operations.isEmpty ? .empty : .missing(operationName)
    }
    self.init(operation, of: document)
  }

  private init(_ operation: OperationDefinition, of document: Document) {
    let fragments = Dictionary(
      document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    text = Self.text(of: operation, fragments: fragments)
    name = operation.name?.value
    kind = operation.operation
    isAlone = document.operations.count == 1
  }

  /// The first name that occurs twice; nil for none.
  private static func repeated(_ names: [String]) -> String? {
    var seen: Set<String> = []
    return names.first { !seen.insert($0).inserted }
  }

  /// - Parameter fragments: all known fragments by name, as written.
  static func text(
    of operation: OperationDefinition, fragments: [String: FragmentDefinition]
  ) -> String {
    let used = names(in: operation.selectionSet, fragments: fragments).sorted()
    var text = SentDocument.text(of: operation, fragments: used.compactMap { fragments[$0] })
    while text.last == "\n" { text.removeLast() }
    return text
  }

  /// The names of all fragments that these selections use, directly or indirectly.
  ///
  /// Not recursive from fragment to fragment: a client's text can have a chain of thousands.
  private static func names(
    in set: SelectionSet, fragments: [String: FragmentDefinition]
  ) -> Set<String> {
    var found: Set<String> = []
    var waiting = [set]
    while let next = waiting.popLast() {
      for name in spreads(in: next) {
        guard let fragment = fragments[name], found.insert(name).inserted else { continue }
        waiting.append(fragment.selectionSet)
      }
    }
    return found
  }

  /// The names of the fragments that are spread here; as deep as the parser allows.
  private static func spreads(in set: SelectionSet) -> [String] {
    set.selections.flatMap { selection -> [String] in
      switch selection {
      case .field(let field): field.selectionSet.map(spreads) ?? []
      case .inlineFragment(let fragment): spreads(in: fragment.selectionSet)
      case .fragmentSpread(let spread): [spread.name.value]
      }
    }
  }

  /// Why a text has no normal form.
  package enum Fault: Error, Hashable, Sendable {
    /// The message names the place.
    case syntax(String)
    /// It has no operation.
    case empty
    /// It has several operations, and none was selected.
    case ambiguous
    /// It has no operation of the given name.
    case missing(String)
    /// Two definitions of one kind, operations or fragments, have the same name.
    case repeated(String, String)
    /// One of several operations has no name.
    case unnamed
  }

  /// A client's text is parsed at each request that sends it, so its size is bounded.
  private static let limits = ParserLimits(tokensMax: 100_000, faultsMax: 1)

  private static func description(of fault: GraphQL.Fault) -> String {
    guard let location = fault.locations.first, let position = location.position else {
      return fault.message
    }
    return "\(fault.message) (line \(position.line), column \(position.column))"
  }
}

/// The digest that names a document: SHA-256 of its UTF-8 bytes.
package enum DocumentDigest {
  /// The length of a digest in hexadecimal digits.
  package static let digitCount = 64

  package static func hexadecimal(of text: String) -> String {
    Hexadecimal.encode(Array(SHA256.hash(data: Array(text.utf8))))
  }
}

/// The names by which clients request an operation's document, besides the operation's own name.
package struct DocumentIdentity: Hashable, Sendable {
  /// The id in the manifest; without one, ``normalDigest``.
  package let id: String
  /// SHA-256 of the normal form.
  package let normalDigest: String
  /// SHA-256 of the text in the manifest, which is its hash for automatic persisted queries.
  package let textDigest: String?
  /// UTF-8 bytes of the normal form.
  package let byteCount: Int

  /// - Parameter listed: the entry of the manifest that the operation is from.
  init(normalText: String, listed: SourceFile?) {
    normalDigest = DocumentDigest.hexadecimal(of: normalText)
    textDigest = listed.map { DocumentDigest.hexadecimal(of: $0.text) }
    id = listed?.documentID ?? normalDigest
    byteCount = normalText.utf8.count
  }
}
