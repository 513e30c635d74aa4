import LosslessJSON
import Model

/// One walk over a selection and the store's values for it, writing the response's `data`.
struct ResultWalker {
  /// What became of a value.
  private enum Written {
    case value
    /// Nothing was written and null must take its place, or nothing at all in a list.
    case gone
  }

  private let result: ResultSnapshot
  private let fills: Bool
  private(set) var output: [UInt8] = []
  private(set) var misses: [String] = []
  private(set) var stale: [ResponsePath] = []
  private var path = ResponsePath()
  private var documents: [EntityKey: [JSONNode]] = [:]

  /// - Parameter fills: last-good values stand where upstream answered with an error.
  init(_ result: ResultSnapshot, fills: Bool) {
    self.result = result
    self.fills = fills
  }

  mutating func walk(_ selection: Model.Selection, errors: ErrorPath?) {
    guard let object = selection.single, let root = try? JSONDocument(result.root) else {
      return miss()
    }
    if !write([root.root], as: object, errors: errors) { miss() }
  }

  private mutating func miss() {
    misses.append(path.text)
    append("null")
  }

  private mutating func append(_ word: StaticString) {
    output.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  // MARK: Objects

  /// - Parameter sources: where fields are read from, the first that has one wins.
  /// - Returns: false if a field that cannot be null is gone; then nothing is left written.
  private mutating func write(
    _ sources: [JSONNode], as object: ObjectSelection, errors: ErrorPath?
  ) -> Bool {
    let start = output.count
    var isFirst = true
    output.append(UInt8(ascii: "{"))
    for field in object.fields where !field.isAdded {
      if !isFirst { output.append(UInt8(ascii: ",")) }
      isFirst = false
      appendName(field.responseName)
      path.push(.member(field.responseName))
      let written = write(
        field, of: sources, type: object.type, error: errors?.member(field.responseName))
      path.pop()
      guard written == .gone else { continue }
      if field.nonNull[0] {
        output.removeLast(output.count - start)
        return false
      }
      append("null")
    }
    output.append(UInt8(ascii: "}"))
    return true
  }

  /// A response name is a GraphQL name: nothing in it needs escaping.
  private mutating func appendName(_ name: String) {
    output.append(UInt8(ascii: "\""))
    output.append(contentsOf: name.utf8)
    output.append(UInt8(ascii: "\""))
    output.append(UInt8(ascii: ":"))
  }

  private mutating func write(
    _ field: SelectedField, of sources: [JSONNode], type: String, error: ErrorPath?
  ) -> Written {
    if field.name == StoredForm.typenameMember {
      output.append(UInt8(ascii: "\""))
      output.append(contentsOf: type.utf8)
      output.append(UInt8(ascii: "\""))
      return .value
    }
    let value = sources.lazy.compactMap { $0[field.storageName] }.first
    if let error {
      switch ErrorPlace(of: error, at: field) {
      case .here: return fill(value, of: field)
      case .hole:
        if fill(value, of: field) == .gone { miss() }
        return .value
      case .below: break
      }
    }
    guard let value else {
      miss()
      return .value
    }
    return write(value, of: field, level: 0, errors: error)
  }

  /// Puts the last-good value in place of one that upstream could not give, if there is a whole one.
  private mutating func fill(_ value: JSONNode?, of field: SelectedField) -> Written {
    guard fills, let value else { return .gone }
    let before = (output: output.count, misses: misses.count, stale: stale.count)
    let written = write(value, of: field, level: 0, errors: nil)
    if written == .value, misses.count == before.misses {
      stale.append(path)
      return .value
    }
    output.removeLast(output.count - before.output)
    misses.removeLast(misses.count - before.misses)
    stale.removeLast(stale.count - before.stale)
    return .gone
  }

  // MARK: Values

  private mutating func write(
    _ value: JSONNode, of field: SelectedField, level: Int, errors: ErrorPath?
  ) -> Written {
    if value.isNull {
      append("null")
      return .value
    }
    if level < field.listDepth { return writeList(value, of: field, level: level, errors: errors) }
    switch field.value {
    case .leaf:
      value.withRawBytes { output.append(contentsOf: $0) }
      return .value
    case .object(let selection):
      return write(object: value, at: selection, errors: errors)
    }
  }

  private mutating func writeList(
    _ value: JSONNode, of field: SelectedField, level: Int, errors: ErrorPath?
  ) -> Written {
    guard value.kind == .array else {
      miss()
      return .value
    }
    var isFirst = true
    var index = 0
    output.append(UInt8(ascii: "["))
    for element in value.elements {
      let start = output.count
      if !isFirst { output.append(UInt8(ascii: ",")) }
      path.push(.element(index))
      let written = write(
        element, of: field, level: level + 1, errors: errors?.element(index))
      path.pop()
      index += 1
      if written == .gone {
        output.removeLast(output.count - start)
      } else {
        isFirst = false
      }
    }
    output.append(UInt8(ascii: "]"))
    return .value
  }

  private mutating func write(
    object value: JSONNode, at selection: Model.Selection, errors: ErrorPath?
  ) -> Written {
    if let reference = value[StoredForm.referenceMember] {
      return write(reference: reference, at: selection, errors: errors)
    }
    guard let type = value[StoredForm.typenameMember]?.string,
      let object = selection.types[type]
    else {
      miss()
      return .value
    }
    return write([value], as: object, errors: errors) ? .value : .gone
  }

  private mutating func write(
    reference: JSONNode, at selection: Model.Selection, errors: ErrorPath?
  ) -> Written {
    guard let type = reference[0]?.string, let key = reference[1]?.string else {
      miss()
      return .value
    }
    let entity = EntityKey(type: type, key: key)
    guard let record = result.entities[entity], let object = selection.types[type] else {
      // Evicted or purged, which says nothing of whether upstream still has it.
      miss()
      return .value
    }
    if record.isDeleted { return .gone }
    return write(sources(of: entity, record), as: object, errors: errors) ? .value : .gone
  }

  private mutating func sources(of key: EntityKey, _ record: EntityRecord) -> [JSONNode] {
    if let known = documents[key] { return known }
    let sources = record.layers.compactMap { try? JSONDocument($0).root }
    documents[key] = sources
    return sources
  }
}
