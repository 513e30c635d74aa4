import LosslessJSON
import Model

/// The walk's output: texts on the stack and fields of entities.
extension NormalisationWalker {
  mutating func appendWord(_ word: StaticString) {
    text.append(
      contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  /// Appends a stored value, which is in the response or after it in the buffer.
  @inline(__always)
  mutating func appendValue(_ range: Range<Int>) {
    if range.upperBound <= scanner.text.count {
      text.append(contentsOf: UnsafeBufferPointer(rebasing: scanner.text[range]))
    } else {
      text.append(contentsOf: bytes[range])
    }
  }

  /// - Parameter rawKey: the range of the key in the response if it is one field; a plain string is
  ///   copied from there.
  mutating func appendReference(_ key: EntityKey, _ object: Int, rawKey: Range<Int>) {
    appendWord("{\"$ref\":[")
    text.append(contentsOf: tables.text(tables.objects[object].storedType))
    text.append(UInt8(ascii: ","))
    // Equal lengths mean that it contains no escapes.
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

  /// Writes the pending fields since `start` as one object, and removes them.
  mutating func appendEmbedded(_ object: Int, from start: Int) {
    appendWord("{\"__typename\":")
    text.append(contentsOf: tables.text(tables.objects[object].storedType))
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
      let isSame = Self.merge(
        field, into: &entities[index].fields, expectedAt: place, of: &bytes)
      isFaithful = isFaithful && isSame
    }
  }

  /// Reads a slot that may have just been filled: one look-up instead of two.
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
        let isSame = Self.merge(field, into: &fields, expectedAt: 0, of: &bytes)
        isFaithful = isFaithful && isSame
      }
    }
    pending.removeLast(pending.count - start)
    return fields
  }

  /// Adds a field, or merges it with the same field found before. A response has one value for a
  /// field wherever it occurs, but can select different parts of an embedded object.
  ///
  /// - Returns: false if the field was found before with another value.
  private static func merge(
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
      let merged = StoredMerge.merge(fields[index].range, field.range, in: bytes)
    else { return false }
    let start = bytes.count
    bytes.append(contentsOf: merged)
    fields[index] = NormalisedResponse.Field(
      name: field.name, range: start..<bytes.count, merges: true,
      isPartial: fields[index].isPartial || field.isPartial)
    return false
  }
}

/// A 64-bit digest that is stable across processes and machines, because it is stored.
///
/// Words of eight bytes are mixed by multiplication, as in the wyhash family; it detects changed
/// pages and does not withstand attacks.
enum FieldDigest {
  static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { raw in
      var state: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(raw.count)
      var offset = 0
      while offset + 8 <= raw.count {
        let word = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        state = mixed(state ^ UInt64(littleEndian: word))
        offset += 8
      }
      var tail: UInt64 = 0
      while offset < raw.count {
        tail = tail << 8 | UInt64(raw[offset])
        offset += 1
      }
      return mixed(state ^ tail)
    }
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low ^ value >> 32
  }
}
