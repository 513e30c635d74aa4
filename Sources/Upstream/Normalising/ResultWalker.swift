import LosslessJSON
import Model

/// One walk over a selection and its stored values, which writes the response's `data`.
struct ResultWalker {
  /// The result of a walk.
  struct Findings {
    let output: [UInt8]
    let misses: [String]
    let stale: [ResponsePath]
    let pendingGaps: Int
    /// Places that upstream responded to with an error and that nothing fills.
    let unfilled: [ResponsePath]
    let hasValues: Bool
  }

  /// The outcome of writing a value.
  private enum Written {
    case value
    /// Nothing was written; null must take its place, or nothing in a list.
    case absent
  }

  private let plan: NormalisationPlan
  private let tables: PlanTables
  private let fills: Bool
  /// The JSON arrays of pending mutations, by entity with an overlay of the device.
  private let pending: [EntityKey: [UInt8]]
  private let scanner: TextScanner
  private var objects: StoredObjects
  private var output: [UInt8] = []
  private var misses: [String] = []
  private var stale: [ResponsePath] = []
  private var unfilled: [ResponsePath] = []
  private var hasValues = false
  private var path = ResponsePath()
  /// The number of enclosing entities with overlays. Missing data there is not a miss: upstream's
  /// response never led there.
  private var pendingDepth = 0
  private(set) var pendingGaps = 0

  /// - Parameters:
  ///   - fills: whether last-good values replace positions that upstream responded to with an
  ///     error.
  ///   - pending: the pending mutations by entity with overlays.
  static func walk(
    _ result: ResultSnapshot, selection: FieldSelection, errors: ErrorPath?, fills: Bool,
    pending: [EntityKey: [UInt8]] = [:]
  ) -> Findings {
    let objects = StoredObjects(result)
    let plan = NormalisationPlan(selection)
    return plan.withTables { tables in
      objects.bytes.withUnsafeBufferPointer { text in
        var walker = ResultWalker(
          plan: plan, tables: tables, fills: fills, pending: pending,
          scanner: TextScanner(text: text), objects: objects)
        walker.walkRoot(errors: errors)
        return Findings(
          output: walker.output, misses: walker.misses, stale: walker.stale,
          pendingGaps: walker.pendingGaps, unfilled: walker.unfilled,
          hasValues: walker.hasValues)
      }
    }
  }

  private init(
    plan: NormalisationPlan, tables: PlanTables, fills: Bool, pending: [EntityKey: [UInt8]],
    scanner: TextScanner, objects: StoredObjects
  ) {
    self.plan = plan
    self.tables = tables
    self.fills = fills
    self.pending = pending
    self.scanner = scanner
    self.objects = objects
    output.reserveCapacity(objects.bytes.count)
  }

  private mutating func walkRoot(errors: ErrorPath?) {
    guard let object = plan.positions[plan.root].objects.first,
      write(objects.root, as: object, errors: errors)
    else {
      // Overlays have removed everything that the operation selects.
      if !pending.isEmpty { return append("null") }
      return miss()
    }
  }

  private mutating func miss() {
    misses.append(path.text)
    append("null")
  }

  /// Handles a value that is not stored.
  private mutating func writeMissing() -> Written {
    guard pendingDepth == 0 else {
      pendingGaps += 1
      return .absent
    }
    miss()
    return .value
  }

  private mutating func append(_ word: StaticString) {
    output.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  private mutating func append(_ range: Range<Int>) {
    output.append(contentsOf: UnsafeBufferPointer(rebasing: scanner.text[range]))
  }

  // MARK: Objects

  /// - Parameters:
  ///   - sources: the layers that fields are read from; the first that has one wins.
  ///   - isPending: whether the first layer is an overlay.
  /// - Returns: false if a non-null field is absent; then nothing is written.
  private mutating func write(
    _ sources: Range<Int>, as object: Int, errors: ErrorPath?, isPending: Bool = false
  ) -> Bool {
    let start = output.count
    var isFirst = true
    var hint = 0
    output.append(UInt8(ascii: "{"))
    for field in tables.objects[object].fields where !tables.fields[field].isAdded {
      if !isFirst { output.append(UInt8(ascii: ",")) }
      isFirst = false
      output.append(contentsOf: tables.text(tables.fields[field].responseName))
      output.append(UInt8(ascii: ":"))
      if tables.fields[field].isTypename {
        output.append(contentsOf: tables.text(tables.objects[object].typename))
        continue
      }
      let value = objects.value(
        of: field, in: sources, hint: &hint, tables: tables, scanner: scanner)
      let error = errors.flatMap { $0.member(plan.fields[field].responseName) }
      guard write(value, of: field, error: error) == .absent else { continue }
      if isPending, writeUnderOverlay(field, in: sources, not: value, error: error) { continue }
      if tables.fields[field].isNonNull {
        output.removeLast(output.count - start)
        return false
      }
      append("null")
    }
    output.append(UInt8(ascii: "}"))
    return true
  }

  private mutating func write(
    _ value: Range<Int>?, of field: Int, error: ErrorPath?
  ) -> Written {
    // The most common case: a leaf that is present.
    if let value, error == nil, tables.fields[field].inner < 0 {
      append(value)
      hasValues = true
      return .value
    }
    path.push(.member(plan.fields[field].responseName))
    defer { path.pop() }
    if let error {
      switch ErrorPlace(of: error, at: field, plan: plan) {
      case .here: return fill(value, of: field)
      case .hole:
        if fill(value, of: field) == .absent { miss() }
        return .value
      case .below: break
      }
    }
    guard let value else { return writeMissing() }
    var offset = value.lowerBound
    return write(&offset, of: field, level: 0, errors: error)
  }

  /// Writes the value under the overlay, if the overlay leads to data that cannot be shown.
  private mutating func writeUnderOverlay(
    _ field: Int, in sources: Range<Int>, not value: Range<Int>?, error: ErrorPath?
  ) -> Bool {
    var hint = 0
    let under = objects.value(
      of: field, in: sources.dropFirst(), hint: &hint, tables: tables, scanner: scanner)
    guard let under, under != value else { return false }
    return write(under, of: field, error: error) == .value
  }

  /// Replaces a failed value by the last-good one, if that is complete.
  private mutating func fill(_ value: Range<Int>?, of field: Int) -> Written {
    let written = filled(value, of: field)
    if written == .absent { unfilled.append(path) }
    return written
  }

  private mutating func filled(_ value: Range<Int>?, of field: Int) -> Written {
    guard fills, let value else { return .absent }
    let before = (output: output.count, misses: misses.count, stale: stale.count)
    var offset = value.lowerBound
    let written = write(&offset, of: field, level: 0, errors: nil)
    if written == .value, misses.count == before.misses {
      stale.append(path)
      return .value
    }
    output.removeLast(output.count - before.output)
    misses.removeLast(misses.count - before.misses)
    stale.removeLast(stale.count - before.stale)
    return .absent
  }

  // MARK: Values

  /// Writes the value at an offset and advances the offset past it.
  private mutating func write(
    _ offset: inout Int, of field: Int, level: Int, errors: ErrorPath?
  ) -> Written {
    if scanner.byte(offset) == UInt8(ascii: "n") {
      offset = scanner.skipValue(offset)
      append("null")
      hasValues = true
      return .value
    }
    if level < tables.fields[field].listDepth {
      return writeList(&offset, of: field, level: level, errors: errors)
    }
    guard tables.fields[field].inner < 0 else {
      return write(object: &offset, at: Int(tables.fields[field].inner), errors: errors)
    }
    let start = offset
    offset = scanner.skipValue(offset)
    append(start..<offset)
    hasValues = true
    return .value
  }

  private mutating func writeList(
    _ offset: inout Int, of field: Int, level: Int, errors: ErrorPath?
  ) -> Written {
    guard scanner.byte(offset) == UInt8(ascii: "[") else {
      offset = scanner.skipValue(offset)
      return writeMissing()
    }
    var isFirst = true
    var index = 0
    output.append(UInt8(ascii: "["))
    offset = scanner.skipBracket(offset)
    while scanner.byte(offset) != UInt8(ascii: "]"), scanner.byte(offset) != 0 {
      let (start, before) = (output.count, offset)
      if !isFirst { output.append(UInt8(ascii: ",")) }
      path.push(.element(index))
      let written = write(
        &offset, of: field, level: level + 1, errors: errors?.element(index))
      path.pop()
      index += 1
      if written == .absent {
        output.removeLast(output.count - start)
      } else {
        isFirst = false
      }
      offset = scanner.skipComma(offset)
      // In damaged text a bracket can be in place of a value, with nothing after it.
      if offset == before { break }
    }
    offset = scanner.skipBracket(offset)
    output.append(UInt8(ascii: "]"))
    if isFirst { hasValues = true }
    return .value
  }

  /// Writes a stored object, whose first member is `$ref` or `__typename`.
  private mutating func write(
    object offset: inout Int, at position: Int, errors: ErrorPath?
  ) -> Written {
    let start = offset
    let nameStart = scanner.skipBracket(offset)
    let value = scanner.skipColon(scanner.skipString(nameStart))
    if scanner.byte(nameStart + 1) == UInt8(ascii: "$") {
      offset = scanner.skipValue(offset)
      return write(reference: value, at: position, errors: errors)
    }
    let type = value..<scanner.skipValue(value)
    guard let object = tables.object(stored: type, at: position, of: scanner) else {
      offset = scanner.skipValue(offset)
      return writeMissing()
    }
    let (layer, end) = objects.embedded(at: start, scanner)
    offset = end
    return write(layer, as: object, errors: errors) ? .value : .absent
  }

  /// - Parameter offset: the offset of `["Film","9"]`.
  private mutating func write(
    reference offset: Int, at position: Int, errors: ErrorPath?
  ) -> Written {
    let typeStart = scanner.skipBracket(offset)
    let typeEnd = scanner.skipString(typeStart)
    let keyStart = scanner.skipComma(typeEnd)
    guard let object = tables.object(stored: typeStart..<typeEnd, at: position, of: scanner),
      let key = key(at: keyStart..<scanner.skipString(keyStart)),
      let record = objects.records[EntityKey(type: plan.objects[object].type, key: key)]
    else {
      // Evicted or purged; upstream may still have it.
      return writeMissing()
    }
    if record.isDeleted { return .absent }
    if !pending.isEmpty,
      let mutations = pending[EntityKey(type: plan.objects[object].type, key: key)]
    {
      return write(pending: record.layers, mutations: mutations, as: object, errors: errors)
    }
    return write(record.layers, as: object, errors: errors) ? .value : .absent
  }

  private mutating func write(
    pending sources: Range<Int>, mutations: [UInt8], as object: Int, errors: ErrorPath?
  ) -> Written {
    pendingDepth += 1
    defer { pendingDepth -= 1 }
    guard write(sources, as: object, errors: errors, isPending: true) else { return .absent }
    output.removeLast()
    if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
    output.append(contentsOf: #""_pending":"#.utf8)
    output.append(contentsOf: mutations)
    output.append(UInt8(ascii: "}"))
    return .value
  }

  private func key(at range: Range<Int>) -> String? {
    guard range.count >= 2 else { return nil }
    let inner = range.lowerBound + 1..<range.upperBound - 1
    guard scanner.text[inner].contains(UInt8(ascii: "\\")) else { return scanner.string(inner) }
    return (try? JSONDocument(checked: objects.bytes, range: range))?.root.string
  }
}
