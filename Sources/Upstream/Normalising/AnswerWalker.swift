import LosslessJSON
import Model

/// One walk over an answer's data: entities, their fields and references as ranges of one buffer.
///
/// The buffer begins with the answer itself, so a leaf is a range of what upstream sent and costs
/// nothing. Lists, references and embedded objects are written behind it. While they are being
/// written they lie on ``text``, a stack: an entity inside a list completes its own values, moves
/// them to the buffer and leaves only its reference on the stack.
struct AnswerWalker {
  private struct PendingField {
    let field: Int
    let start: Int
    let end: Int
    let merges: Bool
  }

  private enum Written {
    case reference
    case embedded
    /// Nothing was written: what stands there is unknown.
    case nothing
  }

  private let plan: AnswerPlan
  private let isCompact: Bool
  private(set) var bytes: [UInt8]
  private var text: [UInt8] = []
  private var pending: [PendingField] = []
  private(set) var entities: [NormalisedAnswer.Entity] = []
  private var indexByKey: [EntityKey: Int] = [:]
  private(set) var absences: [NormalisedAnswer.Absence] = []
  private(set) var pages: [ResultWrite.PageList] = []
  /// Pages from this one on belong to the entity that is being walked.
  private var unownedPages = 0
  private(set) var keylessEntities = 0
  private var seen: [Bool]

  init(plan: AnswerPlan, document: JSONDocument) {
    self.plan = plan
    isCompact = document.isCompact
    bytes = document.bytes
    seen = Array(repeating: false, count: plan.objects.count)
  }

  /// Names of the entity types that were met.
  var entityTypes: Set<String> {
    Set(zip(plan.objects, seen).compactMap { $1 ? $0.type : nil })
  }

  /// Walks the whole data.
  /// - Returns: the root's fields.
  mutating func walk(_ data: JSONNode, errors: ErrorPath?) -> [NormalisedAnswer.Field] {
    guard data.kind == .object, let object = plan.object(of: data, at: plan.root) else {
      return []
    }
    // References, brackets and names are a fraction of what they stand for.
    bytes.reserveCapacity(bytes.count + bytes.count / 2)
    walkFields(of: data, as: object, errors: errors)
    return takePending(from: 0, of: object)
  }

  // MARK: Objects

  /// Appends a reference or an embedded object to the stack.
  private mutating func append(
    object node: JSONNode, at position: Int, errors: ErrorPath?
  ) -> Written {
    guard node.kind == .object, let object = plan.object(of: node, at: position) else {
      return .nothing
    }
    let pendingStart = pending.count
    let outerUnowned = unownedPages
    unownedPages = pages.count
    defer { unownedPages = outerUnowned }
    walkFields(of: node, as: object, errors: errors)
    guard let parts = plan.objects[object].key else {
      appendEmbedded(object, from: pendingStart)
      return .embedded
    }
    guard let key = key(of: node, type: object, parts: parts) else {
      keylessEntities += 1
      appendEmbedded(object, from: pendingStart)
      return .embedded
    }
    seen[object] = true
    ownPages(key)
    store(key, takePending(from: pendingStart, of: object))
    appendReference(key, object)
    return .reference
  }

  private mutating func walkFields(of node: JSONNode, as object: Int, errors: ErrorPath?) {
    var expected = plan.objects[object].fields.lowerBound
    for member in node.members {
      guard let field = plan.field(member, of: object, expected: &expected) else { continue }
      walk(member.value, field: field, errors: errors)
    }
  }

  private mutating func walk(_ value: JSONNode, field: Int, errors outer: ErrorPath?) {
    if plan.fields[field].isTypename { return }
    let errors = outer?.member(plan.fields[field].responseName)
    let kind = value.kind
    if kind == .null {
      // A null with an error on its path says nothing of the value.
      guard errors == nil else { return }
      if let key = plan.fields[field].lookup {
        absences.append(
          NormalisedAnswer.Absence(
            key: key, isAuthoritative: plan.fields[field].isAuthoritative))
      }
    }
    let isPlain =
      plan.fields[field].inner == nil && errors == nil
      && (isCompact || kind != .array && kind != .object)
    if isPlain || kind == .null {
      let range = value.range
      finish(field, range, merges: false)
      return
    }
    let start = text.count
    var merges = false
    if append(value, field: field, level: 0, errors: errors, merges: &merges) {
      let rangeStart = bytes.count
      bytes.append(contentsOf: text[start...])
      finish(field, rangeStart..<bytes.count, merges: merges)
    }
    text.removeLast(text.count - start)
  }

  private mutating func finish(_ field: Int, _ range: Range<Int>, merges: Bool) {
    pending.append(
      PendingField(field: field, start: range.lowerBound, end: range.upperBound, merges: merges))
    if let page = plan.fields[field].page {
      let digest = Digest.of(bytes[range])
      pages.append(ResultWrite.PageList(owner: nil, page: page, digest: digest))
    }
  }

  // MARK: Values

  /// Appends a value of any list depth to the stack.
  /// - Returns: false if some of it is unknown; then what was appended is to be thrown away.
  private mutating func append(
    _ value: JSONNode, field: Int, level: Int, errors: ErrorPath?, merges: inout Bool
  ) -> Bool {
    if value.isNull {
      appendWord("null")
      return errors == nil
    }
    if level < plan.fields[field].listDepth {
      return appendList(value, field: field, level: level, errors: errors, merges: &merges)
    }
    guard let position = plan.fields[field].inner else {
      appendLeaf(value)
      return true
    }
    switch append(object: value, at: position, errors: errors) {
    case .reference: return true
    case .embedded:
      merges = true
      return true
    case .nothing: return false
    }
  }

  /// All elements are walked even if one is unknown: the entities among them are good.
  private mutating func appendList(
    _ value: JSONNode, field: Int, level: Int, errors: ErrorPath?, merges: inout Bool
  ) -> Bool {
    guard value.kind == .array else { return false }
    var isKnown = true
    var index = 0
    text.append(UInt8(ascii: "["))
    for element in value.elements {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      let isElementKnown = append(
        element, field: field, level: level + 1, errors: errors?.element(index), merges: &merges)
      isKnown = isKnown && isElementKnown
      index += 1
    }
    text.append(UInt8(ascii: "]"))
    return isKnown
  }

  private mutating func appendLeaf(_ value: JSONNode) {
    if isCompact || !value.isContainer {
      let range = value.range
      text.append(contentsOf: bytes[range])
    } else {
      var writer = JSONWriter()
      writer.value(value)
      text.append(contentsOf: writer.bytes)
    }
  }

  private mutating func appendWord(_ word: StaticString) {
    text.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  private mutating func appendReference(_ key: EntityKey, _ object: Int) {
    text.append(contentsOf: plan.objects[object].referenceOpening)
    var key = key.key
    let isPlain = key.utf8.allSatisfy {
      $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    if isPlain {
      text.append(UInt8(ascii: "\""))
      key.withUTF8 { text.append(contentsOf: $0) }
      text.append(UInt8(ascii: "\""))
    } else {
      var writer = JSONWriter()
      writer.string(key)
      text.append(contentsOf: writer.bytes)
    }
    appendWord("]}")
  }

  private mutating func appendEmbedded(_ object: Int, from start: Int) {
    if plan.objects[object].hasRepeatedNames {
      let fields = takePending(from: start, of: object)
      text.append(contentsOf: plan.objects[object].embeddedOpening)
      for field in fields {
        var writer = JSONWriter()
        writer.string(field.name)
        text.append(UInt8(ascii: ","))
        text.append(contentsOf: writer.bytes)
        text.append(UInt8(ascii: ":"))
        text.append(contentsOf: bytes[field.range])
      }
    } else {
      text.append(contentsOf: plan.objects[object].embeddedOpening)
      for index in start..<pending.count {
        let field = pending[index]
        text.append(UInt8(ascii: ","))
        text.append(contentsOf: plan.fields[field.field].storedName)
        text.append(contentsOf: bytes[field.start..<field.end])
      }
      pending.removeLast(pending.count - start)
    }
    text.append(UInt8(ascii: "}"))
  }

  // MARK: Entities

  /// Nil where a part of the key is null, missing or no leaf.
  private func key(of node: JSONNode, type object: Int, parts: [KeyField]) -> EntityKey? {
    if parts.count == 1 {
      return Self.text(of: node[parts[0].responseName], parts[0].canonical).map {
        EntityKey(type: plan.objects[object].type, key: $0)
      }
    }
    var texts: [String] = []
    for part in parts {
      guard let text = Self.text(of: node[part.responseName], part.canonical) else { return nil }
      texts.append(text)
    }
    return EntityKey(type: plan.objects[object].type, fields: texts)
  }

  private static func text(of node: JSONNode?, _ canonical: KeyField.Canonical) -> String? {
    guard let node else { return nil }
    switch node.kind {
    case .string where canonical == .text: return node.string
    case .number where canonical == .text: return node.rawText
    case .string, .number, .true, .false:
      return EntityKeyRule.text(of: JSONValue(node), canonical)
    case .null, .array, .object: return nil
    }
  }

  private mutating func store(_ key: EntityKey, _ fields: [NormalisedAnswer.Field]) {
    guard let index = indexByKey[key] else {
      indexByKey[key] = entities.count
      entities.append(NormalisedAnswer.Entity(key: key, fields: fields))
      return
    }
    for field in fields { Self.unite(field, into: &entities[index].fields, of: &bytes) }
  }

  /// The pages found since the entity began, outside entities within it, are its own.
  private mutating func ownPages(_ key: EntityKey) {
    for index in unownedPages..<pages.count where pages[index].owner == nil {
      let page = pages[index]
      pages[index] = ResultWrite.PageList(owner: key, page: page.page, digest: page.digest)
    }
  }

  private mutating func takePending(from start: Int, of object: Int) -> [NormalisedAnswer.Field] {
    var fields: [NormalisedAnswer.Field] = []
    fields.reserveCapacity(pending.count - start)
    let isSimple = !plan.objects[object].hasRepeatedNames
    for index in start..<pending.count {
      let item = pending[index]
      let field = NormalisedAnswer.Field(
        name: plan.fields[item.field].storageName, range: item.start..<item.end,
        merges: item.merges)
      if isSimple { fields.append(field) } else { Self.unite(field, into: &fields, of: &bytes) }
    }
    pending.removeLast(pending.count - start)
    return fields
  }

  /// One answer says the same of one field wherever it stands, but may select different parts of
  /// an embedded object.
  private static func unite(
    _ field: NormalisedAnswer.Field, into fields: inout [NormalisedAnswer.Field],
    of bytes: inout [UInt8]
  ) {
    guard let index = fields.firstIndex(where: { $0.name == field.name }) else {
      fields.append(field)
      return
    }
    guard fields[index].merges || field.merges,
      let united = StoredMerge.merge(fields[index].range, field.range, in: bytes)
    else { return }
    let start = bytes.count
    bytes.append(contentsOf: united)
    fields[index] = NormalisedAnswer.Field(
      name: field.name, range: start..<bytes.count, merges: true)
  }
}
