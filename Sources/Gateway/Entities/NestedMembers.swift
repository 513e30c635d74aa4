import LosslessJSON
import Model

/// Puts nested entities into a document that was written with their ids.
///
/// A to-one relationship's id is replaced by the entity, and a view's list of ids by the entities; a
/// list that was not written is added. A relationship that was never fetched is left out, one that leads
/// to an entity that is not stored shows its key, and both are named in `_missing`; `_more` names the lists that have more members than are shown.
struct NestedMembers {
  static let moreMember = "_more"

  /// The place of a member in the document's text.
  private struct Place {
    let name: String
    /// From its comma: the first member of a document is never nested.
    let start: Int
    let value: Range<Int>
  }

  private let contents: [NestedContent]
  private var places: [Place] = []

  init(_ contents: [NestedContent]) {
    self.contents = contents
  }

  /// Notes a member that was just written.
  ///
  /// - Parameter start: the length of the text before it.
  mutating func note(_ name: String, from start: Int, in writer: JSONWriter) {
    guard !contents.isEmpty,
      name == EntityRenderer.missingMember || contents.contains(where: { $0.name == name })
    else { return }
    // A comma, two quotation marks, a name without escapes, a colon.
    let value = start + name.utf8.count + 4
    guard value <= writer.bytes.count else { return }
    places.append(Place(name: name, start: start, value: value..<writer.bytes.count))
  }

  /// A text that differs whenever what is nested differs.
  var content: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(contents.reduce(0) { $0 + 16 + 64 * $1.documentCount })
    func add(_ document: EntityDocument) {
      let key = document.key
      text.append(contentsOf: key.type.utf8)
      text.append(UInt8(ascii: " "))
      text.append(contentsOf: String(key.key.utf8.count).utf8)
      text.append(UInt8(ascii: ":"))
      text.append(contentsOf: key.key.utf8)
      text.append(contentsOf: document.revision.utf8)
      text.append(UInt8(ascii: "\n"))
    }
    for content in contents {
      text.append(contentsOf: content.name.utf8)
      switch content.value {
      case .entity(let document):
        text.append(contentsOf: " one ".utf8)
        add(document)
      case .unstored(let document):
        text.append(contentsOf: " unstored ".utf8)
        add(document)
      case .null: text.append(contentsOf: " null\n".utf8)
      case .missing: text.append(contentsOf: " missing\n".utf8)
      case .list(let documents, let hasMore):
        text.append(contentsOf: " \(documents.count)\(hasMore ? "+" : "")\n".utf8)
        for document in documents { add(document) }
      }
    }
    return text
  }

  /// Returns the names of what is not stored; nil if there are none and the document has no such list.
  ///
  /// - Parameter known: the names that the document has.
  func missing(besides known: [String]?) -> [String]? {
    let names = contents.compactMap { content in
      switch content.value {
      case .missing, .unstored: content.name
      case .entity, .null, .list: nil
      }
    }.filter { known?.contains($0) != true }
    return names.isEmpty ? known : (known ?? []) + names
  }

  /// Returns the document with what is nested, still open.
  ///
  /// - Parameters:
  ///   - text: the document, still open.
  ///   - missing: see ``missing(besides:)``.
  func insert(into text: [UInt8], missing: [String]?) -> JSONWriter {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count + contents.reduce(256) { $0 + $1.byteCount })
    var end = 0
    for place in places {
      let isGone: Bool
      if place.name == EntityRenderer.missingMember {
        // Written again at the end.
        isGone = true
      } else if case .missing? = value(of: place.name) {
        isGone = true
      } else {
        isGone = false
      }
      bytes += text[end..<(isGone ? place.start : place.value.lowerBound)]
      if !isGone, let value = value(of: place.name) { Self.append(value, to: &bytes) }
      end = place.value.upperBound
    }
    bytes += text[end...]
    for content in contents where !places.contains(where: { $0.name == content.name }) {
      if case .missing = content.value { continue }
      bytes += #","\#(content.name)":"#.utf8
      Self.append(content.value, to: &bytes)
    }
    Self.append(
      missing ?? [], named: EntityRenderer.missingMember, always: missing != nil, to: &bytes)
    Self.append(more, named: Self.moreMember, always: false, to: &bytes)
    bytes.append(UInt8(ascii: ","))
    return JSONWriter(appendingTo: bytes)
  }

  private var more: [String] {
    contents.compactMap { content in
      if case .list(_, hasMore: true) = content.value { content.name } else { nil }
    }
  }

  private func value(of name: String) -> NestedContent.Value? {
    contents.first { $0.name == name }?.value
  }

  private static func append(_ value: NestedContent.Value, to bytes: inout [UInt8]) {
    switch value {
    case .entity(let document), .unstored(let document): bytes += document.body
    case .null, .missing: bytes += "null".utf8
    case .list(let documents, _):
      bytes.append(UInt8(ascii: "["))
      for (index, document) in documents.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes += document.body
      }
      bytes.append(UInt8(ascii: "]"))
    }
  }

  /// Appends a member of names, which are names of GraphQL and need no escapes.
  private static func append(
    _ names: [String], named member: String, always: Bool, to bytes: inout [UInt8]
  ) {
    guard always || !names.isEmpty else { return }
    let list = names.map { "\"\($0)\"" }.joined(separator: ",")
    bytes += ",\"\(member)\":[\(list)]".utf8
  }
}

extension NestedContent {
  fileprivate var documentCount: Int {
    switch value {
    case .entity, .unstored: 1
    case .null, .missing: 0
    case .list(let documents, _): documents.count
    }
  }

  fileprivate var byteCount: Int {
    switch value {
    case .entity(let document), .unstored(let document): document.body.count
    case .null, .missing: 4
    case .list(let documents, _): documents.reduce(2) { $0 + $1.body.count + 1 }
    }
  }
}
