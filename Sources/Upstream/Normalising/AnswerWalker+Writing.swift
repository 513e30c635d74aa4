import LosslessJSON
import Model

/// What the walk leaves behind: texts on the stack and fields of entities.
extension AnswerWalker {
  mutating func appendWord(_ word: StaticString) {
    text.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  mutating func appendReference(_ key: EntityKey, _ object: Int) {
    appendWord("{\"$ref\":[")
    text.append(contentsOf: plan.typeNames.bytes[plan.typeNames[object]])
    text.append(UInt8(ascii: ","))
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

  /// Writes the fields found since `start` as one object, and takes them off the list.
  mutating func appendEmbedded(_ object: Int, from start: Int) {
    appendWord("{\"__typename\":")
    text.append(contentsOf: plan.typeNames.bytes[plan.typeNames[object]])
    if plan.objects[object].hasRepeatedNames {
      for field in takePending(from: start, of: object) {
        var writer = JSONWriter()
        writer.string(field.name)
        text.append(UInt8(ascii: ","))
        text.append(contentsOf: writer.bytes)
        text.append(UInt8(ascii: ":"))
        text.append(contentsOf: bytes[field.range])
      }
    } else {
      for field in pending[start...] {
        text.append(UInt8(ascii: ","))
        text.append(contentsOf: plan.storedNames.bytes[plan.storedNames[field.field]])
        text.append(UInt8(ascii: ":"))
        text.append(contentsOf: bytes[field.start..<field.end])
      }
      pending.removeLast(pending.count - start)
    }
    text.append(UInt8(ascii: "}"))
  }

  mutating func store(_ key: EntityKey, _ fields: [NormalisedAnswer.Field]) {
    guard let index = indexByKey[key] else {
      indexByKey[key] = entities.count
      entities.append(NormalisedAnswer.Entity(key: key, fields: fields))
      return
    }
    for (place, field) in fields.enumerated() {
      Self.unite(field, into: &entities[index].fields, expectedAt: place, of: &bytes)
    }
  }

  mutating func takePending(from start: Int, of object: Int) -> [NormalisedAnswer.Field] {
    var fields: [NormalisedAnswer.Field] = []
    fields.reserveCapacity(pending.count - start)
    let isSimple = !plan.objects[object].hasRepeatedNames
    for item in pending[start...] {
      let field = NormalisedAnswer.Field(
        name: plan.fields[item.field].storageName, range: item.start..<item.end,
        merges: item.merges)
      if isSimple {
        fields.append(field)
      } else {
        Self.unite(field, into: &fields, expectedAt: 0, of: &bytes)
      }
    }
    pending.removeLast(pending.count - start)
    return fields
  }

  /// One answer says the same of one field wherever it stands, but may select different parts of
  /// an embedded object.
  private static func unite(
    _ field: NormalisedAnswer.Field, into fields: inout [NormalisedAnswer.Field],
    expectedAt place: Int, of bytes: inout [UInt8]
  ) {
    let isThere = place < fields.count && fields[place].name == field.name
    let found = isThere ? place : fields.firstIndex { $0.name == field.name }
    guard let index = found else {
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
