import LosslessJSON
import Model

/// One walk over a response's data, which collects entities, their fields and references as ranges
/// of one buffer.
///
/// The buffer begins with the response itself, so a leaf is a range of upstream's bytes and is not
/// copied. Lists, references and embedded objects are written after it. While being written they
/// are on ``text``, a stack: an entity inside a list completes its own values, moves them to the
/// buffer and leaves only its reference on the stack.
struct NormalisationWalker {
  /// The result of a walk.
  struct Findings {
    let bytes: [UInt8]
    let root: [NormalisedResponse.Field]
    let entities: [NormalisedResponse.Entity]
    let absences: [NormalisedResponse.Absence]
    let pages: [ResultWrite.PageList]
    /// Names of the entity types found.
    let entityTypes: Set<String>
    let keylessEntities: Int
    /// Whether every value of the response is in the findings unchanged: no field had two values.
    let isFaithful: Bool
  }

  struct PendingField {
    let field: Int
    let start: Int
    let end: Int
    let merges: Bool
    var isPartial = false
  }

  private enum Written {
    case reference
    case embedded
    /// Nothing was written: the value is unknown.
    case nothing
  }

  /// The state of the object being walked: the start of its keys and pending fields.
  private struct Frame {
    let object: Int
    let pending: Int
    let keys: Int
    let pages: Int
    var isRoot = false
  }

  let plan: NormalisationPlan
  let tables: PlanTables
  let scanner: TextScanner
  private let isCompact: Bool
  var bytes: [UInt8]
  var text: [UInt8] = []
  var pending: [PendingField] = []
  var entities: [NormalisedResponse.Entity] = []
  var indexByKey: [EntityKey: Int] = [:]
  private var absences: [NormalisedResponse.Absence] = []
  private var pages: [ResultWrite.PageList] = []
  /// Ranges of key values found so far, the innermost object's last; empty if missing.
  private var keys: [Range<Int>] = []
  private var keylessEntities = 0
  /// False once a field was found with two values, of which one is kept.
  var isFaithful = true
  private var seen: [Bool]
  /// False if a list contains a non-null element of an unknown type, which null cannot represent.
  private var isReadable = true

  /// Walks the data of a response.
  static func walk(
    _ data: JSONNode, plan: NormalisationPlan, errors: ErrorPath?
  ) -> Findings {
    plan.withTables { tables in
      data.document.bytes.withUnsafeBufferPointer { source in
        var walker = NormalisationWalker(
          plan: plan, tables: tables, document: data.document, source: source)
        let root = walker.walkRoot(at: data.range.lowerBound, errors: errors)
        return Findings(
          bytes: walker.bytes, root: root, entities: walker.entities,
          absences: walker.absences, pages: walker.pages, entityTypes: walker.entityTypes,
          keylessEntities: walker.keylessEntities, isFaithful: walker.isFaithful)
      }
    }
  }

  private init(
    plan: NormalisationPlan, tables: PlanTables, document: JSONDocument,
    source: UnsafeBufferPointer<UInt8>
  ) {
    self.plan = plan
    self.tables = tables
    scanner = TextScanner(text: source)
    isCompact = document.isCompact
    bytes = document.bytes
    // References, brackets and names take a fraction of what they replace.
    bytes.reserveCapacity(bytes.count + bytes.count / 2)
    text.reserveCapacity(Self.textExpected)
    let entitiesExpected = min(source.count / Self.bytesPerEntity, Self.entitiesExpectedMax)
    entities.reserveCapacity(entitiesExpected)
    indexByKey.reserveCapacity(entitiesExpected)
    seen = Array(repeating: false, count: plan.objects.count)
  }

  /// Initial capacities: guesses that only avoid reallocation.
  private static let bytesPerEntity = 400
  private static let entitiesExpectedMax = 8192
  private static let textExpected = 1 << 14

  private var entityTypes: Set<String> {
    Set(zip(plan.objects, seen).compactMap { $1 ? $0.type : nil })
  }

  private mutating func walkRoot(
    at offset: Int, errors: ErrorPath?
  ) -> [NormalisedResponse.Field] {
    guard scanner.byte(offset) == UInt8(ascii: "{"),
      let object = tables.positions[plan.root].objects.first
    else { return [] }
    let frame = Frame(object: object, pending: 0, keys: 0, pages: 0, isRoot: true)
    _ = walkFields(at: offset, frame, errors: errors)
    return takePending(from: 0, of: object)
  }

  // MARK: Objects

  /// Appends a reference or an embedded object to the stack, and advances the offset past the
  /// object.
  private mutating func append(
    object offset: inout Int, at position: Int, errors: ErrorPath?
  ) -> Written {
    guard scanner.byte(offset) == UInt8(ascii: "{"),
      let object = concreteType(of: offset, at: position)
    else {
      offset = scanner.skipValue(offset)
      return .nothing
    }
    let frame = Frame(
      object: object, pending: pending.count, keys: keys.count, pages: pages.count)
    let partCount = Int(tables.objects[object].keyPartCount)
    for _ in 0..<partCount { keys.append(0..<0) }
    offset = walkFields(at: offset, frame, errors: errors)
    defer { keys.removeLast(partCount) }
    guard partCount > 0 else {
      appendEmbedded(frame.object, from: frame.pending)
      return .embedded
    }
    guard let key = key(of: frame) else {
      keylessEntities += 1
      appendEmbedded(frame.object, from: frame.pending)
      return .embedded
    }
    seen[object] = true
    ownPages(from: frame.pages, key)
    store(key, takePending(from: frame.pending, of: object))
    appendReference(key, object, rawKey: partCount == 1 ? keys[frame.keys] : 0..<0)
    return .reference
  }

  private func concreteType(of offset: Int, at position: Int) -> Int? {
    let typename = tables.positions[position].typename
    guard typename.count > 0 else { return tables.positions[position].objects.first }
    var offset = scanner.skipSpace(offset + 1)
    while scanner.byte(offset) == UInt8(ascii: "\"") {
      let nameEnd = scanner.skipString(offset)
      let value = scanner.skipColon(nameEnd)
      let end = scanner.skipValue(value)
      if tables.isName(typename, at: offset..<nameEnd, of: scanner) {
        return tables.object(named: value..<end, at: position, of: scanner)
      }
      offset = scanner.skipComma(end)
    }
    return nil
  }

  /// - Returns: the offset after the object.
  private mutating func walkFields(at offset: Int, _ frame: Frame, errors: ErrorPath?) -> Int {
    var expected = Int(tables.objects[frame.object].firstField)
    var offset = scanner.skipSpace(offset + 1)
    while scanner.byte(offset) == UInt8(ascii: "\"") {
      let nameEnd = scanner.skipString(offset)
      let name = offset..<nameEnd
      offset = scanner.skipColon(nameEnd)
      if let field = tables.field(
        name, of: frame.object, expected: &expected, scanner: scanner)
      {
        walk(&offset, field: field, frame, errors: errors)
      } else {
        offset = scanner.skipValue(offset)
      }
      offset = scanner.skipComma(offset)
    }
    return offset + 1
  }

  private mutating func walk(
    _ offset: inout Int, field: Int, _ frame: Frame, errors outer: ErrorPath?
  ) {
    let errors = outer.flatMap { $0.member(plan.fields[field].responseName) }
    let first = scanner.byte(offset)
    let isContainer = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    let isNull = first == UInt8(ascii: "n")
    let shape = tables.fields[field]
    let isLeaf = shape.inner < 0
    guard isNull || isLeaf && (!isContainer || isCompact && errors == nil) else {
      return walkComposite(&offset, field: field, isRoot: frame.isRoot, errors: errors)
    }
    let start = offset
    offset = scanner.skipValue(offset)
    if shape.keyPart >= 0, !isContainer, !isNull {
      keys[frame.keys + Int(shape.keyPart)] = start..<offset
    }
    if shape.isTypename { return }
    if isNull {
      // A null with an error on its path says nothing about the value.
      guard errors == nil else { return }
      if let key = plan.fields[field].lookup {
        absences.append(
          NormalisedResponse.Absence(
            key: key, isAuthoritative: plan.fields[field].isAuthoritative))
      }
    }
    finish(field, start..<offset, merges: false)
  }

  /// A list of the result itself with unknown elements is stored with null in their place, for use
  /// when no complete list was ever stored.
  private mutating func walkComposite(
    _ offset: inout Int, field: Int, isRoot: Bool, errors: ErrorPath?
  ) {
    let start = text.count
    var merges = false
    let isList = scanner.byte(offset) == UInt8(ascii: "[")
    isReadable = true
    let isKnown = append(&offset, field: field, level: 0, errors: errors, merges: &merges)
    if isKnown || isRoot && isList && isReadable && errors != nil {
      let rangeStart = bytes.count
      bytes.append(contentsOf: text[start...])
      let range = rangeStart..<bytes.count
      if isKnown {
        finish(field, range, merges: merges)
      } else {
        pending.append(
          PendingField(
            field: field, start: range.lowerBound, end: range.upperBound, merges: false,
            isPartial: true))
      }
    }
    text.removeLast(text.count - start)
  }

  private mutating func finish(_ field: Int, _ range: Range<Int>, merges: Bool) {
    pending.append(
      PendingField(field: field, start: range.lowerBound, end: range.upperBound, merges: merges))
    if tables.fields[field].isSpecial, let page = plan.fields[field].page {
      let digest = FieldDigest.of(bytes[range])
      pages.append(ResultWrite.PageList(owner: nil, page: page, digest: digest))
    }
  }

  // MARK: Values

  /// Appends a value of any list depth to the stack, and advances the offset past it.
  /// - Returns: false if a part of it is unknown; then the appended text must be discarded.
  private mutating func append(
    _ offset: inout Int, field: Int, level: Int, errors: ErrorPath?, merges: inout Bool
  ) -> Bool {
    if scanner.byte(offset) == UInt8(ascii: "n") {
      offset = scanner.skipValue(offset)
      appendWord("null")
      return errors == nil
    }
    if level < tables.fields[field].listDepth {
      return appendList(&offset, field: field, level: level, errors: errors, merges: &merges)
    }
    guard tables.fields[field].inner >= 0 else {
      let start = offset
      offset = scanner.skipValue(offset)
      appendLeaf(start..<offset)
      return true
    }
    switch append(object: &offset, at: Int(tables.fields[field].inner), errors: errors) {
    case .reference: return true
    case .embedded:
      merges = true
      return true
    case .nothing: return false
    }
  }

  /// All elements are walked even if one is unknown: the entities among them are valid.
  private mutating func appendList(
    _ offset: inout Int, field: Int, level: Int, errors: ErrorPath?, merges: inout Bool
  ) -> Bool {
    guard scanner.byte(offset) == UInt8(ascii: "[") else {
      offset = scanner.skipValue(offset)
      return false
    }
    var isKnown = true
    var index = 0
    text.append(UInt8(ascii: "["))
    offset = scanner.skipSpace(offset + 1)
    while scanner.byte(offset) != UInt8(ascii: "]"), scanner.byte(offset) != 0 {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      let start = text.count
      let isElementKnown = append(
        &offset, field: field, level: level + 1, errors: errors?.element(index), merges: &merges)
      if !isElementKnown, text.count == start {
        appendWord("null")
        isReadable = false
      }
      isKnown = isKnown && isElementKnown
      index += 1
      offset = scanner.skipComma(offset)
    }
    offset += 1
    text.append(UInt8(ascii: "]"))
    return isKnown
  }

  private mutating func appendLeaf(_ range: Range<Int>) {
    let first = scanner.byte(range.lowerBound)
    let isContainer = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    if isContainer, !isCompact, let document = try? JSONDocument(checked: bytes, range: range) {
      var writer = JSONWriter()
      writer.value(document.root)
      text.append(contentsOf: writer.bytes)
    } else {
      appendValue(range)
    }
  }

  // MARK: Keys and pages

  /// Nil if a part of the key is null, missing or not a leaf.
  private func key(of frame: Frame) -> EntityKey? {
    let type = plan.typeNames[frame.object]
    if tables.objects[frame.object].hasTextKey {
      return keyText(keys[frame.keys], .text).map { EntityKey(type: type, key: $0) }
    }
    guard let parts = plan.objects[frame.object].key else { return nil }
    var texts: [String] = []
    for (index, part) in parts.enumerated() {
      guard let text = keyText(keys[frame.keys + index], part) else { return nil }
      texts.append(text)
    }
    return EntityKey(type: type, fields: texts)
  }

  private func keyText(_ range: Range<Int>, _ canonical: KeyField.Canonical) -> String? {
    guard !range.isEmpty else { return nil }
    let isString = scanner.byte(range.lowerBound) == UInt8(ascii: "\"")
    let inner = isString ? range.lowerBound + 1..<range.upperBound - 1 : range
    let isPlain =
      canonical == .text
      && !UnsafeBufferPointer(rebasing: scanner.text[inner]).contains(UInt8(ascii: "\\"))
    if isPlain { return scanner.string(inner) }
    guard let document = try? JSONDocument(checked: bytes, range: range) else { return nil }
    return EntityKeyRule.text(of: JSONValue(document.root), canonical)
  }

  /// Assigns the pages found since the entity began, except those of entities within it, to the
  /// entity.
  private mutating func ownPages(from start: Int, _ key: EntityKey) {
    for index in start..<pages.count where pages[index].owner == nil {
      let page = pages[index]
      pages[index] = ResultWrite.PageList(owner: key, page: page.page, digest: page.digest)
    }
  }
}
