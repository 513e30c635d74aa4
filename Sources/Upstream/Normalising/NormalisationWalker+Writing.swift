import LosslessJSON
import Model

/// What the walk leaves behind: texts on the stack and fields of entities.
extension NormalisationWalker {
  mutating func appendWord(_ word: StaticString) {
    text.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  /// Appends a stored value, which lies in the answer or behind it.
  @inline(__always)
  mutating func appendValue(_ range: Range<Int>) {
    if range.upperBound <= scanner.text.count {
      text.append(contentsOf: UnsafeBufferPointer(rebasing: scanner.text[range]))
    } else {
      text.append(contentsOf: bytes[range])
    }
  }

  /// - Parameter rawKey: where the answer has the key, if it is one field; then a plain string is
  ///   copied from there.
  mutating func appendReference(_ key: EntityKey, _ object: Int, rawKey: Range<Int>) {
    appendWord("{\"$ref\":[")
    text.append(contentsOf: tables.text(tables.objects[object].typeName))
    text.append(UInt8(ascii: ","))
    // Equal lengths mean that no escape stands in it.
    if rawKey.count == key.key.utf8.count + 2, scanner.byte(rawKey.lowerBound) == UInt8(ascii: "\"")
    {
      appendValue(rawKey)
    } else {
      var writer = JSONWriter()
      writer.string(key.key)
      text.append(contentsOf: writer.bytes)
    }
    appendWord("]}")
  }

  /// Writes the fields found since `start` as one object, and takes them off the list.
  mutating func appendEmbedded(_ object: Int, from start: Int) {
    appendWord("{\"__typename\":")
    text.append(contentsOf: tables.text(tables.objects[object].typeName))
    if tables.objects[object].hasRepeatedNames {
      for field in takePending(from: start, of: object) {
        var writer = JSONWriter()
        writer.string(field.name)
        text.append(UInt8(ascii: ","))
        text.append(contentsOf: writer.bytes)
        text.append(UInt8(ascii: ":"))
        text.append(contentsOf: bytes[field.range])
      }
    } else {
      for index in start..<pending.count {
        let field = pending[index]
        text.append(UInt8(ascii: ","))
        text.append(contentsOf: tables.text(tables.fields[field.field].storedName))
        text.append(UInt8(ascii: ":"))
        appendValue(field.start..<field.end)
      }
      pending.removeLast(pending.count - start)
    }
    text.append(UInt8(ascii: "}"))
  }

  mutating func store(_ key: EntityKey, _ fields: [NormalisedResponse.Field]) {
    let new = entities.count
    let index = Self.take(&indexByKey[key, default: new])
    guard index < new else {
      entities.append(NormalisedResponse.Entity(key: key, fields: fields))
      return
    }
    for (place, field) in fields.enumerated() {
      let isSame = Self.unite(
        field, into: &entities[index].fields, expectedAt: place, of: &bytes)
      isFaithful = isFaithful && isSame
    }
  }

  /// The value that stands in a slot, or was put there just now: one look-up instead of two.
  private static func take(_ slot: inout Int) -> Int { slot }

  mutating func takePending(from start: Int, of object: Int) -> [NormalisedResponse.Field] {
    var fields: [NormalisedResponse.Field] = []
    fields.reserveCapacity(pending.count - start)
    let isSimple = !tables.objects[object].hasRepeatedNames
    for index in start..<pending.count {
      let item = pending[index]
      let field = NormalisedResponse.Field(
        name: plan.storageNames[item.field], range: item.start..<item.end,
        merges: item.merges, isPartial: item.isPartial)
      if isSimple {
        fields.append(field)
      } else {
        let isSame = Self.unite(field, into: &fields, expectedAt: 0, of: &bytes)
        isFaithful = isFaithful && isSame
      }
    }
    pending.removeLast(pending.count - start)
    return fields
  }

  /// One answer says the same of one field wherever it stands, but may select different parts of
  /// an embedded object.
  ///
  /// - Returns: false if the field was there with another value.
  private static func unite(
    _ field: NormalisedResponse.Field, into fields: inout [NormalisedResponse.Field],
    expectedAt place: Int, of bytes: inout [UInt8]
  ) -> Bool {
    let isThere = place < fields.count && fields[place].name == field.name
    let found = isThere ? place : fields.firstIndex { $0.name == field.name }
    guard let index = found else {
      fields.append(field)
      return true
    }
    guard bytes[fields[index].range] != bytes[field.range] else { return true }
    guard fields[index].merges || field.merges,
      let united = StoredMerge.merge(fields[index].range, field.range, in: bytes)
    else { return false }
    let start = bytes.count
    bytes.append(contentsOf: united)
    fields[index] = NormalisedResponse.Field(
      name: field.name, range: start..<bytes.count, merges: true,
      isPartial: fields[index].isPartial || field.isPartial)
    return false
  }
}
